import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { expectJson } from '../../base/canonical-json.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { Random } from '../../contracts/context.ts';
import type { Environment, Notation, Transition } from '../../contracts/environment.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Message } from '../../contracts/language-model.ts';
import { plainContext } from '../plain-context.ts';
import { type Subject, subjectOf, type TestRunner } from '../test-runner.ts';

/** Options of {@link describeEnvironment}. */
export interface EnvironmentClaims<State, Action> {
  /** Makes the environment. */
  readonly create: () => Environment<State, Action>;
  /** The legal actions of a state; none in terminal states. */
  readonly actions: (state: State) => readonly Action[];
  /** The number of random walks. @defaultValue 6 */
  readonly walks?: number;
  /** The longest walk, in actions. @defaultValue 16 */
  readonly maxDepth?: number;
  /** The names of tests that do not apply, each with the reason in one sentence for the report. @defaultValue none */
  readonly exempt?: Readonly<Record<string, readonly string[]>>;
}

/** A step of a random walk. */
interface Visit<State, Action> {
  readonly state: State;
  readonly action: Action;
  readonly next: Transition<State>;
}

/**
 * The contract of an `Environment` as tests, along random walks: it never mutates states, is deterministic, has
 * consistent keys, and its codec and notation round-trip. Steps are also tried from terminal states: they must throw, or
 * end again.
 *
 * @example
 * ```ts
 * const create = () => slidingTiles.environment(instance);
 * describeEnvironment('tiles', { create, actions: create().actions }, { describe, test });
 * ```
 */
export function describeEnvironment<State, Action>(
  name: string,
  claims: EnvironmentClaims<State, Action>,
  runner: TestRunner,
): void {
  expectOptions('describeEnvironment', claims, 'create actions walks maxDepth exempt');
  const subject = subjectOf(claims, runner);
  subject.runner.describe(`environment ${name}`, () => {
    describeSteps(subject);
    describeKeys(subject);
    describeText(subject);
  });
}

type EnvironmentSubject<State, Action> = Subject<EnvironmentClaims<State, Action>>;

function describeSteps<State, Action>({ claims, runner }: EnvironmentSubject<State, Action>): void {
  runner.test('never changes a state that it steps from', async () => {
    const environment = claims.create();
    for (const { state } of await walk(claims)) {
      const before: unknown = deserialize(serialize(state));
      for (const action of claims.actions(state)) await environment.step(state, action, context());
      assert.deepEqual(state, before);
    }
  });

  runner.test('does the same again with the same random numbers', async () => {
    const [one, other] = [claims.create(), claims.create()];
    assert.deepEqual(await one.reset(context()), await other.reset(context()));
    for (const { state, action } of await walk(claims)) {
      const first = await one.step(state, action, context());
      assert.deepEqual(await one.step(state, action, context()), first);
      assert.deepEqual(await other.step(state, action, context()), first);
    }
  });

  runner.test('gives finite rewards, and costs from 0 up', async () => {
    for (const { next } of await walk(claims)) {
      const { reward = 0, cost = 0 } = next;
      assert.ok(Number.isFinite(reward), `got the reward ${reward}`);
      assert.ok(Number.isFinite(cost) && cost >= 0, `got the cost ${cost}`);
    }
  });

  runner.test('ends where it says so', async () => {
    const environment = claims.create();
    const visits = await walk(claims);
    const tried = visits.map(({ action }) => action);
    for (const { next } of visits) {
      if (next.terminal !== true) continue;
      assert.deepEqual(claims.actions(next.state), [], 'a terminal state has actions');
      for (const action of tried) {
        const after = await attempt(environment, next.state, action);
        assert.ok(
          after === undefined || after.terminal === true,
          `the step ${shown(action)} from the terminal state ${shown(next.state)} gives one that is not terminal: throw there, or mark it as terminal`,
        );
      }
    }
  });
}

function describeKeys<State, Action>({ claims, runner }: EnvironmentSubject<State, Action>): void {
  runner.test('behaves the same in states with equal keys', async () => {
    const environment = claims.create();
    if (environment.key === undefined) return;
    const key = (state: State) => environment.key?.(state);
    const first = new Map<string | undefined, State>();
    for (const { next } of await walk(claims)) {
      const { state } = next;
      const twin = first.get(key(state));
      if (twin === undefined) first.set(key(state), state);
      else assert.deepEqual(await outlook(state), await outlook(twin), `key ${key(state)}`);
    }

    /** The possible continuations, as far as keys distinguish states; actions may be written differently. */
    async function outlook(state: State): Promise<readonly string[]> {
      const rows: string[] = [];
      for (const action of claims.actions(state)) {
        const {
          state: to,
          reward,
          cost,
          terminal,
        } = await environment.step(state, action, context());
        rows.push(JSON.stringify([key(to), reward ?? null, cost ?? null, terminal ?? false]));
      }
      return rows.toSorted();
    }
  });
}

function describeText<State, Action>({ claims, runner }: EnvironmentSubject<State, Action>): void {
  runner.test('has states that are saved and loaded without loss', async () => {
    const { codec } = claims.create();
    for (const { state, next } of await walk(claims)) {
      for (const each of [state, next.state]) {
        const encoded: unknown = codec === undefined ? each : codec.encode(each);
        expectJson('state', encoded);
        const parsed: unknown = JSON.parse(JSON.stringify(encoded));
        const again = codec === undefined ? parsed : codec.decode(parsed as JsonValue);
        assert.deepEqual(again, each);
      }
    }
  });

  /** Runs only if there is a notation. */
  const testNotation = (
    name: string,
    check: (notation: Notation<State, Action>, state: State) => void,
  ) =>
    runner.test(name, async () => {
      const { notation } = claims.create();
      if (notation === undefined) return;
      for (const { state } of await walk(claims)) check(notation, state);
    });

  testNotation('reads every action that it writes', (notation, state) => {
    for (const action of claims.actions(state)) {
      const text = notation.format(action);
      assert.deepEqual(notation.parse(text, state), { action }, text);
    }
  });
  testNotation('does not take any text for an action', (notation, state) => {
    for (const text of ['', ' \n', '�'.repeat(9)]) {
      const parsed = notation.parse(text, state);
      assert.ok('failure' in parsed, `${JSON.stringify(text)} became an action`);
    }
  });
  testNotation('shows a state as a conversation, the same each time', (notation, state) => {
    const messages = notation.prompt(state);
    assert.ok(messages.length > 0 && messages.every(says));
    assert.deepEqual(notation.prompt(state), messages);
  });
}

/** Whether a turn has content: a turn that calls tools need not have text, and vice versa. */
function says({ role, content, toolCalls = [] }: Message): boolean {
  return content !== '' || toolCalls.length > 0 || role === 'tool';
}

function context() {
  return plainContext({ random: seededRandom('step') });
}

function shown(value: unknown): string {
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 3 });
}

async function attempt<State, Action>(
  environment: Environment<State, Action>,
  state: State,
  action: Action,
): Promise<Transition<State> | undefined> {
  try {
    return await environment.step(state, action, context());
  } catch {
    return undefined;
  }
}

async function walk<State, Action>(
  claims: EnvironmentClaims<State, Action>,
): Promise<readonly Visit<State, Action>[]> {
  const { walks = 6, maxDepth = 16 } = claims;
  const visits: Visit<State, Action>[] = [];
  for (let index = 0; index < walks; index++) {
    const random = seededRandom('walk').split(index);
    visits.push(...(await walkOnce(claims, random, maxDepth)));
  }
  assert.ok(visits.length > 0, 'the start state has no actions');
  return visits;
}

async function walkOnce<State, Action>(
  { create, actions }: EnvironmentClaims<State, Action>,
  random: Random,
  maxDepth: number,
): Promise<readonly Visit<State, Action>[]> {
  const environment = create();
  const visits: Visit<State, Action>[] = [];
  let { state } = await environment.reset(context());
  while (visits.length < maxDepth) {
    const legal = actions(state);
    if (legal.length === 0) break;
    const action = legal[random.integer(legal.length)] as Action;
    const next = await environment.step(state, action, context());
    visits.push({ state, action, next });
    if (next.terminal === true) break;
    state = next.state;
  }
  return visits;
}
