import type { Environment, Notation } from '../../src/contracts/environment.ts';
import type { Evaluator } from '../../src/contracts/evaluator.ts';
import type { Policy } from '../../src/contracts/policy.ts';
import type { Method } from '../../src/methods/method.ts';
import type { SearchTree } from '../../src/tree/tree.ts';

/** Words of letters. Each word lists the letters that may follow; a word with a reward is an end. */
export interface Words {
  /** The letters that may follow a word, and their priors where they have any. */
  readonly next: Readonly<Record<string, string | Readonly<Record<string, number>>>>;
  /** The rewards of ends. */
  readonly rewards?: Readonly<Record<string, number>>;
  /** The values of words. */
  readonly values?: Readonly<Record<string, number>>;
}

const notation: Notation<string, string> = {
  prompt: (state) => [{ role: 'user', content: `The word so far: \`${state}\`.` }],
  format: (action) => action,
  parse: (text) =>
    /^[a-z]$/.test(text.trim())
      ? { action: text.trim() }
      : { failure: { kind: 'parse', message: `Expected a letter, got \`${text}\`.` } },
};

/** An environment of words, with a notation, in which everything is known. */
export function wordsEnvironment({ rewards = {} }: Words): Environment<string, string> {
  return {
    name: 'words',
    reset: () => ({ state: '' }),
    step: (state, action) => {
      const next = state + action;
      const reward = rewards[next];
      return reward === undefined ? { state: next } : { state: next, terminal: true, reward };
    },
    notation,
  };
}

/** Lists the letters that may follow and are not there yet, in order. */
export function wordsPolicy({ next }: Words): Policy<string, string> {
  return {
    propose: (node, { count }) => {
      const letters = node.kind === 'proposed' ? '' : (next[node.state] ?? '');
      const proposals =
        typeof letters === 'string'
          ? [...letters].map((action) => ({ action }))
          : Object.entries(letters).map(([action, prior]) => ({ action, prior }));
      const known = new Set(node.children.map(({ action }) => action));
      return proposals.filter(({ action }) => !known.has(action)).slice(0, count);
    },
  };
}

/** Values words by the table; before they are taken where `needs` says so. */
export function wordsValue(
  { values = {} }: Words,
  needs: 'proposed' | 'realised' = 'realised',
): Evaluator<string, string> {
  const stateOf = (node: Parameters<Evaluator<string, string>['evaluate']>[0][number]) => {
    if (node.kind !== 'proposed') return node.state;
    return `${node.parent.kind === 'proposed' ? '?' : node.parent.state}${node.action}`;
  };
  return {
    needs,
    evaluate: (nodes) =>
      nodes.map((node) => {
        const value = values[stateOf(node)];
        return value === undefined
          ? { failure: { kind: 'invalid', message: `There is no value of \`${stateOf(node)}\`.` } }
          : { value };
      }),
  };
}

/** The visited nodes by their words: visits and value to four places. */
export function statisticsOf(
  tree: SearchTree<string, string>,
): Readonly<Record<string, readonly [number, number]>> {
  return Object.fromEntries(
    [...tree.nodes()].flatMap(({ visits, value, state }) =>
      visits === 0 ? [] : [[state === '' ? 'root' : state, [visits, round(value)]]],
    ),
  );
}

/** To four places, as numbers worked out by hand are written. */
export function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** The preference rows that a method makes of its tree: the words of both sides, and the margin to four places. */
export function pairsIn(
  tree: SearchTree<string, string>,
  { pairs }: Method<string, string>,
): readonly { readonly chosen: string; readonly rejected: string; readonly margin: number }[] {
  if (pairs === undefined) throw new Error('The method has no rule for pairs.');
  const record = { problem: 'words', tree, notation };
  return [...pairs.rows([record])].map(({ provenance: { nodes }, margin }) => {
    const [, chosen = 0, rejected = 0] = nodes;
    const wordAt = (id: number) => tree.node(id).state ?? '?';
    return { chosen: wordAt(chosen), rejected: wordAt(rejected), margin: round(margin) };
  });
}
