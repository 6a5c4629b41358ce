import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';

/** An observation, and its fingerprint. */
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

/** A step on the way to a state: the start is observed first, then actions are taken. */
export interface WorldStep<Action, Observation> {
  /** Identifies it by all steps before. */
  readonly id: string;
  /** The action; absent for the start. */
  readonly taken?: { readonly action: Action };
  /** The key of the expected observation. */
  readonly sight?: string | undefined;
  /** The observation before. */
  readonly before?: Observation | undefined;
  /** The observation after. */
  readonly observation?: Observation | undefined;
}

/** The key of an observation: the fingerprint of the world, or else the observation itself. */
export function sightKey({ observation, fingerprint }: Sight<unknown>): string {
  return fingerprint ?? contentAddress(canonicalJson('observation', observation, 'item'));
}

/** The id of the step that follows another. */
export function idAfter(step: WorldStep<unknown, unknown> | undefined, action: unknown): string {
  const { id = '', sight = '' } = step ?? {};
  return contentAddress(`${id} ${sight} ${canonicalJson('action', action, 'item')}`);
}

/** All steps that lead to a state. */
export function stepsTo<Action, Observation>({
  start,
  steps,
  way,
}: WorldState<Action, Observation>): readonly WorldStep<Action, Observation>[] {
  const { observation } = start;
  let last: WorldStep<Action, Observation> = { id: 'start', sight: sightKey(start), observation };
  const all = [last];
  // Both lists end with the same step.
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
 * @param shorten - Finds a shorter path to the same state.
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

/** The key of a state: the fingerprint of the world if it has one, or else all actions and observations. */
export function keyOfState(state: WorldState<unknown, unknown>): string {
  const last = state.steps.at(-1) ?? state.start;
  if (last.fingerprint !== undefined) return last.fingerprint;
  return idAfter(stepsTo(state).at(-1), null);
}
