import { randomUUID } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import { EspalierError } from '../../base/errors.ts';
import { frozen } from '../../base/frozen.ts';
import { type Deed, DeedLog } from '../../calls/deeds.ts';
import type { Journal } from '../../calls/journal.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ActCall, Workspace } from '../../contracts/world.ts';
import type { Recovery } from '../worlds/live.ts';
import { Pool } from '../worlds/pool.ts';
import { addressOf, chained, type MadeCall, nextKey } from './plan.ts';
import { follow, lookUp, NotTakenBack, type Takers, takeBack, takeBackLeft } from './reversible.ts';
import type { Ran } from './running.ts';
import type { Asked, DeclaredTool } from './tool.ts';

/** The calls that led from a start to a state, and its data. */
export interface OutsideState {
  readonly origin: string;
  readonly calls: readonly MadeCall[];
  readonly data: JsonValue;
}

/** The state before any call. */
export const atRest: OutsideState = { origin: '', calls: [], data: null };

/** Performs a reversible call. */
export type DoOutside = (asked: Asked, from: OutsideState, call: ActCall) => Promise<Ran>;

/** A deed on the path to a state. */
interface Step {
  readonly key: string;
  readonly tool: string;
  readonly input: JsonValue;
  readonly data: JsonValue;
  readonly seen?: string | undefined;
}

const held =
  'The outside world is locked by an abandoned call that has not ended. Calls that change or read it must wait until it does.';

/**
 * The outside world, changed by reversible tools. It is used by one state at a time, and is then as if the calls that
 * led there had been made; between uses it is back at its start. Each call is recorded first, so that a later process
 * can undo it.
 */
export class Outside {
  readonly #environment: string;
  readonly #tools: ReadonlyMap<string, DeclaredTool>;
  readonly #log: DeedLog;
  readonly #pool: Pool<Workspace, Step>;
  /** The deeds in effect, oldest first. */
  #standing: Deed[] = [];
  /** The data before each call, by its key. */
  readonly #data = new Map<string, JsonValue>();
  #recovered = 0;
  #release: (() => void) | undefined;
  /** The last committed deed: all later ones build on it. */
  #committed: string | undefined;
  /** Settles when an abandoned run has ended. */
  #hung: Promise<unknown> | undefined;
  /** Turns away the callers that wait for their turn. */
  readonly #waiting = new Set<() => void>();

  constructor(parts: {
    readonly environment: string;
    readonly tools: ReadonlyMap<string, DeclaredTool>;
    readonly journal: Journal;
  }) {
    this.#environment = parts.environment;
    this.#tools = parts.tools;
    this.#log = DeedLog.of(parts.journal);
    this.#pool = new Pool<Workspace, Step>({
      create: () => this.#open(),
      instances: 1,
      rest: 'back',
      keyOf: ({ key, seen }) => `${key} ${seen}`,
      act: (_, step, call) => this.#repeat(step, call),
      undo: (_, step, call) => this.#undo(step, call),
    });
  }

  /**
   * Lends the outside world in the state after the calls that led to a state. Calls made with `run` are undone
   * afterwards, unless another caller waits for a state that includes them.
   *
   * @throws EspalierError `stale` if the calls no longer have the same results; NotTakenBack; the errors of `use`.
   */
  async at<Result>(
    state: OutsideState,
    call: ActCall,
    use: (run: DoOutside) => Promise<Result>,
  ): Promise<Result> {
    if (this.#hung !== undefined) throw new Error(held);
    this.#hold();
    const path = this.#pathTo(state);
    return new Promise((resolve, reject) => {
      let isThere = true;
      const leave = (): void => {
        isThere = false;
        reject(new Error(held));
      };
      this.#waiting.add(leave);
      const lent = this.#pool.at(path, call, async (_, did) => {
        this.#waiting.delete(leave);
        try {
          if (!isThere) return;
          const result = await use((asked, from, within) =>
            this.#run(asked, { from, within, did }),
          );
          // Nobody waits for a run that may never end.
          if (this.#hung !== undefined) resolve(result);
          return result;
        } finally {
          // Older deeds are undone only when the abandoned run can no longer have effects.
          await this.#hung;
        }
      });
      lent
        .finally(() => this.#waiting.delete(leave))
        .then((result) => resolve(result as Result), reject);
    });
  }

  /** Undoes what killed processes have left. */
  async recover(call: ActCall): Promise<Recovery> {
    const before = this.#recovered;
    try {
      await this.at(atRest, call, async () => {});
    } catch (error) {
      if (!(error instanceof NotTakenBack)) throw error;
      return { undone: this.#recovered - before, failed: [error.message] };
    }
    return { undone: this.#recovered - before, failed: [] };
  }

  /** Notes that a commit has done everything up to a call. */
  committed(key: string): void {
    this.#committed = key;
  }

  /** Releases the journal. The object can be used again. */
  async close(): Promise<void> {
    await this.#pool.close();
    this.#release?.();
    this.#release = undefined;
  }

  /** Reads and locks the journal. */
  #hold(): void {
    if (this.#release !== undefined) return;
    this.#release = this.#log.hold();
    for (const { of, key, stage, data = null } of this.#log.of(this.#environment)) {
      this.#data.set(key, data);
      if (of === 'commit' && stage === 'done') this.#committed = key;
    }
  }

  async #open(): Promise<Workspace> {
    const call: ActCall = { signal: new AbortController().signal, clock: systemClock, id: '' };
    this.#recovered += await takeBackLeft(this.#takers, this.#environment, call);
    this.#standing = [];
    return {};
  }

  get #takers(): Takers {
    return { log: this.#log, tools: this.#tools };
  }

  /** The deeds on the path to a state, without committed ones. */
  #pathTo({ calls, data, origin }: OutsideState): Step[] {
    const chain = chained(origin, calls);
    const done = chain.findLastIndex(({ key }) => key === this.#committed);
    if (this.#committed !== undefined && done < 0 && calls.length > 0) {
      const message =
        'A commit has made other calls than those that led to this state. Continue the search from the committed state.';
      throw new EspalierError('stale', message);
    }
    return chain
      .slice(done + 1)
      .filter(({ call }) => this.isOutside(call))
      .map(({ call: { tool, input, seen }, key }) => ({
        ...{ key, tool, input, seen },
        data: this.#data.get(key) ?? data,
      }));
  }

  /** Whether a call makes reversible changes to the outside world. */
  isOutside({ tool }: MadeCall): boolean {
    return this.#tools.get(tool)?.undo !== undefined;
  }

  async #run(
    asked: Asked,
    {
      from,
      within,
      did,
    }: {
      readonly from: OutsideState;
      readonly within: ActCall;
      readonly did: (step: Step) => void;
    },
  ): Promise<Ran> {
    const step = this.#stepOf(asked, from);
    const ran = await this.#do(step, asked.parsed, within);
    if ('output' in ran) did({ ...step, seen: addressOf(ran.output) });
    return ran;
  }

  #stepOf({ tool: { name: tool }, input }: Asked, { calls, data, origin }: OutsideState): Step {
    const before = chained(origin, calls).at(-1)?.key ?? origin;
    return { key: nextKey(before, tool, input), tool, input, data };
  }

  /** Repeats a step. Returns whether the output is the same. */
  async #repeat(step: Step, call: ActCall): Promise<boolean> {
    const checked = this.#tools.get(step.tool)?.check(step.input);
    if (checked === undefined || 'problem' in checked) return false;
    const ran = await this.#do(step, checked.parsed, call);
    return !('error' in ran) && (step.seen === undefined || addressOf(ran.output) === step.seen);
  }

  async #do({ key, tool: name, input, data }: Step, parsed: unknown, given: ActCall): Promise<Ran> {
    const tool = this.#tools.get(name);
    if (tool === undefined) return { error: `There is no tool \`${name}\`.` };
    this.#data.set(key, data);
    const call = { ...given, id: randomUUID() };
    const on = { db: frozen(data), parsed };
    const looked = await lookUp(tool, { db: on.db, input }, call);
    if (looked !== undefined && 'error' in looked) return looked;
    const { id } = call;
    const deed = this.#log.begin({
      ...{ of: 'branch', environment: this.#environment, name, key, id, input, data },
      remembered: looked?.output,
    });
    this.#standing.push(deed);
    const { ran, hung } = await follow(tool, on, call);
    if (!('error' in ran)) {
      this.#standing[this.#standing.length - 1] = this.#log.done(deed, ran.whole);
      return { output: ran.output };
    }
    if (hung !== undefined) this.#waitFor(hung, deed, call);
    await this.#takeBackTo(this.#standing.length - 1, call);
    given.signal.throwIfAborted();
    return ran;
  }

  /** Keeps the outside locked until an abandoned run has ended, and then undoes it. */
  #waitFor(hung: Promise<unknown>, deed: Deed, call: ActCall): void {
    this.#hung = hung
      .then(() => takeBack(this.#takers, deed, call))
      .finally(() => {
        this.#hung = undefined;
      });
    for (const leave of this.#waiting) leave();
    this.#waiting.clear();
  }

  async #undo({ key }: Step, call: ActCall): Promise<void> {
    const place = this.#standing.findLastIndex((deed) => deed.key === key);
    if (place >= 0) await this.#takeBackTo(place, call);
  }

  /** Undoes deeds, newest first, until `count` are left. A newer deed must never be undone after an older one. */
  async #takeBackTo(count: number, call: ActCall): Promise<void> {
    while (this.#standing.length > count) {
      const newest = this.#standing.at(-1);
      if (newest !== undefined) await takeBack(this.#takers, newest, call);
      this.#standing.pop();
    }
  }
}
