import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';

/** An observation, and what identifies it. */
export interface Sight<Observation> {
  /** The observation. */
  readonly observation: Observation;
  /** The fingerprint of the world, if it has one. */
  readonly fingerprint?: string;
}

/** A state of a live world: the actions taken and their observations, as JSON. */
export interface WorldState<Action, Observation> {
  /** The observation at the start. */
  readonly start: Sight<Observation>;
  /** The actions taken, in order, each with its observation. */
  readonly steps: readonly (Sight<Observation> & {
    /** The action. */
    readonly action: Action;
  })[];
  /** A shorter path to the same state, if the world knows one. */
  readonly way?: readonly {
    /** The action. */
    readonly action: Action;
    /** Identifies the expected observation; absent if unknown. */
    readonly sight?: string;
  }[];
}

/** What is done to come to a state: first the start is looked at, and then actions are taken. */
export interface WorldStep<Action, Observation> {
  /** Names it, by all that is done before. */
  readonly id: string;
  /** What is done; the start has none. */
  readonly taken?: { readonly action: Action };
  /** What tells what has to be seen then. */
  readonly sight?: string | undefined;
  /** What was seen before. */
  readonly before?: Observation | undefined;
  /** What was seen then. */
  readonly observation?: Observation | undefined;
}

/** What tells sights apart: the fingerprint of the world, else what was seen. */
export function sightKey({ observation, fingerprint }: Sight<unknown>): string {
  return fingerprint ?? contentAddress(canonicalJson('observation', observation, 'item'));
}

/** The name of what is done after a step. */
export function idAfter(step: WorldStep<unknown, unknown> | undefined, action: unknown): string {
  const { id = '', sight = '' } = step ?? {};
  return contentAddress(`${id} ${sight} ${canonicalJson('action', action, 'item')}`);
}

/** All that is done to come to a state. */
export function stepsTo<Action, Observation>({
  start,
  steps,
  way,
}: WorldState<Action, Observation>): readonly WorldStep<Action, Observation>[] {
  const { observation } = start;
  let last: WorldStep<Action, Observation> = { id: 'start', sight: sightKey(start), observation };
  const all = [last];
  // What was done last stands last in both.
  const offset = steps.length - (way ?? steps).length;
  for (const [index, { action, ...rest }] of (way ?? steps).entries()) {
    const step = steps[index + offset];
    const sight = 'observation' in rest ? sightKey(rest) : rest.sight;
    const isSame = step !== undefined && sight === sightKey(step);
    last = {
      id: idAfter(last, action),
      taken: { action },
      sight,
      before: last.observation,
      observation: isSame ? step.observation : undefined,
    };
    all.push(last);
  }
  return all;
}

/**
 * The state after an action.
 *
 * @param shorten - Finds a shorter way to the same.
 */
export function stateAfter<Action, Observation>(
  { start, steps, way }: WorldState<Action, Observation>,
  taken: WorldState<Action, Observation>['steps'][number],
  shorten?: (actions: readonly Action[]) => readonly Action[],
): WorldState<Action, Observation> {
  const next = { start, steps: [...steps, taken] };
  const known = (way ?? steps).map((step) => ({
    action: step.action,
    sight: 'observation' in step ? sightKey(step) : step.sight,
  }));
  const long = [...known, { action: taken.action, sight: sightKey(taken) }];
  const short = shorten?.(long.map(({ action }) => action)) ?? [];
  if (short.length === 0 || short.length >= long.length) {
    return way === undefined ? next : { ...next, way: long.map(withoutUndefined) };
  }
  const isShared = (index: number) =>
    canonicalJson('action', short[index], 'item') ===
    canonicalJson('action', long[index]?.action, 'item');
  const apart = short.findIndex((_, index) => !isShared(index));
  const shorter = short.map((action, index) => {
    if (index === short.length - 1) return { action, sight: sightKey(taken) };
    const isKnown = apart === -1 || index < apart;
    return { action, sight: isKnown ? long[index]?.sight : undefined };
  });
  return { ...next, way: shorter.map(withoutUndefined) };
}

function withoutUndefined<Action>({
  action,
  sight,
}: {
  readonly action: Action;
  readonly sight?: string | undefined;
}): { readonly action: Action; readonly sight?: string } {
  return sight === undefined ? { action } : { action, sight };
}

/** What tells states apart: how the world stands, where it can tell; else all that was done and seen. */
export function keyOfState(state: WorldState<unknown, unknown>): string {
  const last = state.steps.at(-1) ?? state.start;
  if (last.fingerprint !== undefined) return last.fingerprint;
  return idAfter(stepsTo(state).at(-1), null);
}
