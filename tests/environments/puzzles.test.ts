import { describe, expect, it } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { Failed } from '../../src/contracts/failure.ts';
import { type PuzzleName, puzzles } from '../../src/environments/index.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { told } from '../support/told.ts';

const names = Object.keys(puzzles) as readonly PuzzleName[];
const instanceCount = 12;

describe.each(names)('instances of %s', (name) => {
  const puzzle = puzzles[name];
  const random = seededRandom(name);
  const instances = instancesOf(name);

  it('is known under its own name', () => {
    expect(puzzle.name).toBe(name);
    expect(puzzle.environment(instances[0]).name).toBe(name);
  });

  it('generates the same instances from the same seed, and others from another', () => {
    expect(puzzle.generate(random.split('instance', 3))).toEqual(instances[3]);
    expect(new Set(instances.map((instance) => JSON.stringify(instance))).size).toBeGreaterThan(
      instanceCount / 2,
    );
  });

  it('generates instances that are not solved yet', () => {
    for (const instance of instances) expect(puzzle.check(instance, []).correct).toBe(false);
  });

  it('reads the instances that it writes', () => {
    for (const instance of instances) {
      expect(puzzle.parse(puzzle.format(instance))).toEqual(instance);
      expect(JSON.parse(JSON.stringify(instance))).toEqual(instance);
    }
  });

  it('rejects garbage with a usage error', () => {
    for (const text of ['', '   ', 'hello', '(', '1 2 three', '-1 2 3 4', '\0']) {
      expect(() => puzzle.parse(text)).toThrow(EspalierError);
      expect(() => puzzle.parse(text)).toThrow(/^Expected .*, got /s);
    }
  });
});

describe.each(names)('the dynamics of %s', (name) => {
  const puzzle = puzzles[name];
  const walks = walksOf(name);

  it('has states that are JSON, and takes them back as such', () => {
    for (const { environment, states } of walks) {
      for (const state of states) {
        const saved: unknown = JSON.parse(JSON.stringify(state));
        expect(saved).toEqual(state);
        expect(environment.key(saved)).toBe(environment.key(state));
        expect(environment.actions(saved)).toEqual(environment.actions(state));
      }
    }
  });

  it('lists each legal action once, and each leads to another state', () => {
    for (const { environment, states } of walks) {
      for (const state of states) {
        const next = environment.actions(state).map((action) => environment.step(state, action));
        const keys = next.map((transition) => environment.key(transition.state));
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys).not.toContain(environment.key(state));
      }
    }
  });

  it('ends with reward 1 when it is solved and with 0 in a dead end, and gives no other rewards', () => {
    for (const { environment, states } of walks) {
      for (const state of states) {
        for (const action of environment.actions(state)) {
          const { terminal = false, reward, state: next } = environment.step(state, action);
          expect(terminal).toBe(environment.actions(next).length === 0);
          expect(reward).toBe(terminal ? Number(puzzle.heuristic(next) === 0) : undefined);
        }
      }
    }
  });
});

describe.each(names)('the notation of %s', (name) => {
  const walks = walksOf(name);

  it('reads every legal action that it writes', () => {
    for (const { environment, states } of walks) {
      for (const state of states) {
        for (const action of environment.actions(state)) {
          const text = environment.notation.format(action);
          expect(told(environment.notation.parse(text, state))).toEqual(action);
          const wrapped = `\n 1. ${text.toUpperCase()} \nand so on`;
          expect(told(environment.notation.parse(wrapped, state))).toEqual(action);
          expect(JSON.parse(JSON.stringify(action))).toEqual(action);
        }
      }
    }
  });

  it('answers text without an action with a failure of one sentence', () => {
    const { environment, states } = walks[0] ?? { states: [] };
    for (const text of ['', 'I do not know.', '{}', '()', '='.repeat(10_000), '🌳']) {
      const parsed = environment?.notation.parse(text, states[0]);
      const { failure } = (parsed ?? {}) as Failed;
      expect(failure.kind).toBe('parse');
      expect(failure.message).toMatch(/^Expected .{1,200}, got `.{0,80}`\.$/su);
    }
  });

  // Anything worse than linear time would take minutes.
  it('reads long and strange texts in linear time', { timeout: 10_000 }, () => {
    const { environment, states } = walks[0] ?? { states: [] };
    const parts = [' ', '1 ', '4', '(', '-', '4 * ', '4 + 4 = 8 (left: ', 'stack the ', 'left up '];
    for (const part of parts) {
      expect(environment?.notation.parse(part.repeat(200_000), states[0])).toBeDefined();
    }
  });

  it('shows a model the state and nothing of earlier steps', () => {
    for (const { environment, states } of walks.slice(0, 2)) {
      const prompts = states.map((state) => environment.notation.prompt(state));
      for (const prompt of prompts) expect(prompt.map(({ role }) => role)).toEqual(['user']);
      const contents = prompts.map(([message]) => message?.content);
      expect(new Set(contents).size).toBe(new Set(states.map(environment.key)).size);
    }
  });
});

describe.each(names)('the values and verdicts of %s', (name) => {
  const puzzle = puzzles[name];
  const instances = instancesOf(name);
  const walks = walksOf(name);

  it('values every state in [0, 1], and only a solved one at 1 by heuristic 0', () => {
    for (const { states } of walks) {
      for (const state of states) {
        expect(puzzle.estimate(state)).toBeGreaterThanOrEqual(0);
        expect(puzzle.estimate(state)).toBeLessThan(1);
        expect(puzzle.heuristic(state)).toBeGreaterThan(0);
        expect(puzzle.render(state)).not.toBe('');
      }
    }
  });

  it('says of a wrong or unfinished solution what is wrong with it first', () => {
    for (const [index, instance] of instances.entries()) {
      const actions = (walks[index]?.actions ?? []).slice(0, 1);
      expect(puzzle.check(instance, actions).rationale).toMatch(/^After 1 step: Expected /);
      const strange = [...actions, 'fly'];
      if (name === 'game24' || name === 'countdown') continue;
      expect(puzzle.check(instance, strange).rationale).toMatch(/^Step 2: Expected .*`"?fly"?`\.$/);
    }
  });
});

function instancesOf(name: PuzzleName): readonly unknown[] {
  const random = seededRandom(name);
  return Array.from({ length: instanceCount }, (_, index) =>
    deepFreeze(puzzles[name].generate(random.split('instance', index))),
  );
}

function walksOf(name: PuzzleName) {
  return instancesOf(name).map((instance, index) => walk(name, instance, index));
}

/** The states of a random walk that ends before the puzzle does, and the actions between them. */
function walk(name: PuzzleName, instance: unknown, index: number) {
  const environment = puzzles[name].environment(instance);
  const random = seededRandom(`${name} walk`).split(index);
  const states = [environment.reset().state];
  const actions: unknown[] = [];
  for (let depth = 0; depth < 6; depth++) {
    const state = deepFreeze(states.at(-1));
    const legal = environment.actions(state);
    const action = legal[random.integer(legal.length)];
    const transition = environment.step(state, deepFreeze(action));
    if (transition.terminal === true) break;
    states.push(transition.state);
    actions.push(action);
  }
  return { environment, states, actions };
}
