import { expectation } from '../../base/expect.ts';
import { fieldName } from '../../prompting/read-reply.ts';

/** One criterion of a judge. */
export interface Criterion {
  /** A unique name of a word or two. */
  readonly name: string;
  /** The maximum points: above 0, usually an integer. */
  readonly weight: number;
  /** What earns points, for the judge. */
  readonly about: string;
}

/**
 * Seven criteria of 100 points, with the weights of I-MCTS: 15, 20, 20, 15, 10, 10, 10. Their content is our own, for
 * any work done in steps.
 *
 * @see Liang et al., "I-MCTS: Enhancing Agentic AutoML via Introspective Monte Carlo Tree Search", 2025.
 */
export const workCriteria: readonly Criterion[] = [
  {
    name: 'understanding',
    weight: 15,
    about: 'The work deals with what was asked for, all of it and nothing else.',
  },
  {
    name: 'correctness',
    weight: 20,
    about: 'What was done so far is right, and every claim follows from what stands before it.',
  },
  { name: 'progress', weight: 20, about: 'What was done so far brings the goal nearer.' },
  {
    name: 'prospects',
    weight: 15,
    about: 'What is left can be done from here, and it is clear how.',
  },
  { name: 'care', weight: 10, about: 'Special cases, conditions and likely mistakes are seen to.' },
  { name: 'economy', weight: 10, about: 'Nothing is repeated, and no detour is made.' },
  { name: 'clarity', weight: 10, about: 'Somebody else could check the work and go on with it.' },
];

/** Throws unless criteria have unique names and valid weights. */
export function expectCriteria(criteria: unknown): asserts criteria is readonly Criterion[] {
  const all = Array.isArray(criteria) ? criteria.map((one): Partial<Criterion> => Object(one)) : [];
  const names = all.map(({ name }) => fieldName(String(name ?? '')));
  const isSound =
    all.length > 0 &&
    all.every(
      ({ about, weight = 0 }) => typeof about === 'string' && weight > 0 && weight < Infinity,
    ) &&
    names.every((name) => name !== '' && name !== 'reason' && name !== 'scores') &&
    new Set(names).size === names.length;
  if (isSound) return;
  throw expectation(
    'criteria',
    'one or more with different names, each with a text `about` and a weight above 0',
    criteria,
  );
}
