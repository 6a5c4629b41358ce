import { failedBy } from '../base/failure.ts';
import type { CallContext } from '../contracts/context.ts';
import type { Proposal } from '../contracts/policy.ts';

/** One of several requests for proposals that are independent of each other. */
export interface Task<Action> {
  /** The number of failures that it counts for if it fails. */
  readonly count: number;
  /** Makes the request. */
  readonly ask: () => Promise<readonly Proposal<Action>[]>;
}

/** The result of a task, or its failure. */
export type Outcome<Action> =
  | { readonly proposals: readonly Proposal<Action>[] }
  | { readonly proposals: readonly Proposal<Action>[]; readonly error: unknown };

/** Runs a task. A failed task becomes failures; errors that end the search are rethrown. */
export async function outcomeOf<Action>(
  { count, ask }: Task<Action>,
  context: CallContext,
): Promise<Outcome<Action>> {
  try {
    return { proposals: await ask() };
  } catch (error) {
    const { failure } = failedBy(error, 'call', context);
    return { error, proposals: Array.from({ length: count }, () => ({ failure })) };
  }
}

/**
 * The results of tasks, in order.
 *
 * @throws the error of the first task if all failed: then the expansion has failed.
 */
export function proposalsOfEach<Action>(
  outcomes: readonly Outcome<Action>[],
): readonly (readonly Proposal<Action>[])[] {
  const failed = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome] : []));
  if (failed[0] !== undefined && failed.length === outcomes.length) throw failed[0].error;
  return outcomes.map(({ proposals }) => proposals);
}

/** Runs tasks concurrently, and joins their results as {@link proposalsOfEach} does. */
export async function proposalsOfAll<Action>(
  tasks: readonly Task<Action>[],
  context: CallContext,
): Promise<readonly (readonly Proposal<Action>[])[]> {
  return proposalsOfEach(await Promise.all(tasks.map((task) => outcomeOf(task, context))));
}

/** Merges several lists of proposals by their positions; a list without positions keeps its own. */
export function inPlaces<Action>(
  lists: readonly (readonly Proposal<Action>[])[],
  places: readonly (readonly number[])[],
): readonly Proposal<Action>[] {
  return lists
    .flatMap((list, at) =>
      list.map((proposal, index) => ({ place: places[at]?.[index] ?? at, proposal })),
    )
    .toSorted((a, b) => a.place - b.place)
    .map(({ proposal }) => proposal);
}
