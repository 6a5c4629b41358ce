import { describe, expect, test } from 'vitest';
import { evaluated, grow, plant } from './grow.ts';

describe('score', () => {
  test('is the sum of the rewards on the path', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { reward: 0.25 }]);
    const b = grow(tree, a, ['b', {}]);
    const end = grow(tree, b, ['end', { reward: 0.5, value: 0.9, terminal: true }]);

    expect(tree.score(end)).toBe(0.75);
  });

  test('adds the evaluation of a last state that brought no reward', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { reward: 0.25 }]);
    const end = grow(tree, a, ['end', { value: 0.5, terminal: true }]);

    expect(tree.score(end)).toBe(0.75);
  });

  test('is undefined for a state that was neither rewarded nor evaluated', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { reward: 0.25 }]);

    expect(tree.score(grow(tree, a, ['end', { terminal: true }]))).toBeUndefined();
    expect(tree.score(tree.root)).toBeUndefined();
  });
});

describe('bestTerminal', () => {
  test('is the terminal node or answer with the highest score', () => {
    const tree = plant();
    grow(tree, tree.root, ['open', { value: 1 }]);
    const low = grow(tree, tree.root, ['low', { reward: 0.2, terminal: true }]);
    expect(tree.bestTerminal).toBe(low);

    const answer = grow(tree, tree.root, ['answer', { value: 0.7, answer: true }]);
    expect(tree.bestTerminal).toBe(answer);

    grow(tree, tree.root, ['lower', { reward: 0.6, terminal: true }]);
    expect(tree.bestTerminal).toBe(answer);
  });

  test('takes the shallowest of equal scores, and then the first', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const deep = grow(tree, a, ['deep', { reward: 1, terminal: true }]);
    expect(tree.bestTerminal).toBe(deep);

    const shallow = grow(tree, tree.root, ['shallow', { reward: 1, terminal: true }]);
    grow(tree, tree.root, ['as shallow', { reward: 1, terminal: true }]);
    expect(tree.bestTerminal).toBe(shallow);
  });

  test('does not count an answer before its value is known', () => {
    const tree = plant();
    const answer = grow(tree, tree.root, ['answer', { answer: true }]);
    expect(tree.bestTerminal).toBeUndefined();

    tree.addEvaluation(answer, evaluated(0));
    expect(tree.bestTerminal).toBe(answer);
  });

  test('gives way when the mean of its evaluations falls below that of another', () => {
    const tree = plant();
    const first = grow(tree, tree.root, ['first', { value: 0.9, answer: true }]);
    const second = grow(tree, tree.root, ['second', { value: 0.8, answer: true }]);
    expect(tree.bestTerminal).toBe(first);

    tree.addEvaluation(first, evaluated(0.1));
    expect(tree.score(first)).toBe(0.5);
    expect(tree.bestTerminal).toBe(second);

    for (let more = 0; more < 10; more++) tree.addEvaluation(first, evaluated(0.9));
    expect(tree.bestTerminal).toBe(first);
  });
});

describe('best', () => {
  test('is the end of the most visited path where nothing has ended', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { value: 0.1 }]);
    const b = grow(tree, tree.root, ['b', { value: 0.9 }]);
    const aa = grow(tree, a, ['aa', { value: 0.2 }]);
    for (const leaf of [a, aa, b]) tree.backup(leaf);

    expect(tree.best).toBe(aa);
  });

  test('follows that path from the cursor', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { value: 0.1 }]);
    const b = grow(tree, tree.root, ['b', { value: 0.9 }]);
    for (const leaf of [a, a, b]) tree.backup(leaf);
    tree.advance(b);

    expect(tree.best).toBe(b);
  });

  test('prefers any end to an open path', () => {
    const tree = plant();
    const open = grow(tree, tree.root, ['open', { value: 1 }]);
    tree.backup(open);
    const end = grow(tree, tree.root, ['end', { reward: 0, terminal: true }]);

    expect(tree.best).toBe(end);
  });

  test('is the node that the algorithm prefers, until something has ended', () => {
    const tree = plant();
    const visited = grow(tree, tree.root, ['visited', { value: 1 }]);
    const preferred = grow(tree, tree.root, ['preferred', {}]);
    tree.backup(visited);
    tree.prefer(preferred);
    expect(tree.best).toBe(preferred);

    const end = grow(tree, tree.root, ['end', { reward: 0, terminal: true }]);
    expect(tree.best).toBe(end);
  });

  test('is what the algorithm concluded, whatever else was found', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { value: 0.1 }]);
    grow(tree, tree.root, ['end', { reward: 1, terminal: true }]);
    expect(tree.conclusion).toBeUndefined();
    tree.conclude({ node: a, optimal: true });

    expect(tree.best).toBe(a);
    expect(tree.conclusion).toEqual({ node: a, optimal: true });
  });
});

describe('best, where no end has a score,', () => {
  test('is an end that was never evaluated, rather than a step on the way', () => {
    const tree = plant();
    const visited = grow(tree, tree.root, ['visited', { value: 1 }]);
    tree.backup(visited);
    tree.prefer(visited);
    const end = grow(tree, visited, ['end', { terminal: true }]);
    expect(tree.bestTerminal).toBeUndefined();
    expect(tree.best).toBe(end);
    expect(tree.fork().best.id).toBe(end.id);

    const scored = grow(tree, tree.root, ['scored', { reward: 0, terminal: true }]);
    expect(tree.best).toBe(scored);
  });

  test('is, of the ends that were never evaluated, the one whose parent promises most', () => {
    const tree = plant();
    const low = grow(tree, tree.root, ['low', { value: 0.4, reward: 0.1 }]);
    const high = grow(tree, tree.root, ['high', { value: 0.6 }]);
    const ofLow = grow(tree, low, ['of low', { terminal: true, prior: 0.9 }]);
    expect(tree.best).toBe(ofLow);

    const first = grow(tree, high, ['first', { terminal: true, prior: 0.2 }]);
    const likelier = grow(tree, high, ['likelier', { terminal: true, prior: 0.3 }]);
    grow(tree, high, ['as likely', { terminal: true, prior: 0.3 }]);
    expect(tree.best).toBe(likelier);

    tree.prune(likelier);
    tree.fail(first, { kind: 'call', message: 'Lost.' });
    expect(tree.best.action).toBe('as likely');

    tree.advance(low);
    expect(tree.best).toBe(ofLow);

    tree.addEvaluation(ofLow, evaluated(0));
    expect(tree.bestTerminal).toBe(ofLow);
  });

  test('is the first of equals, in whatever order they were realised', () => {
    const tree = plant();
    const [first, second] = tree.add(tree.root, [
      { action: 'first', prior: 0.5 },
      { action: 'second', prior: 0.5 },
    ]);
    if (first === undefined || second === undefined) throw new Error('Two children were added.');
    for (const end of [second, first]) tree.realise(end, { state: end.action, terminal: true });
    expect(tree.best).toBe(first);
    expect(tree.fork().best.id).toBe(first.id);
  });

  test('may be an answer that could not be continued, but none whose evaluation failed', () => {
    const failure = { kind: 'parse', message: 'Unread.' } as const;
    const tree = plant();
    const lost = grow(tree, tree.root, ['lost', { answer: true }]);
    const answer = grow(tree, tree.root, ['answer', { answer: true }]);
    tree.fail(lost, failure);
    tree.noteFailures(answer, { failedProposals: [{ ...failure, count: 1 }] });
    tree.fail(answer, failure);
    expect(tree.best).toBe(answer);
  });
});
