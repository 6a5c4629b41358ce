import { expectation, expectMethods, expectNumber, expectObject } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { provenanceOf } from '../base/provenance.ts';
import { placeOf } from '../base/stats/place-of.ts';
import { contextWith } from '../calls/door.ts';
import type { CallContext, Random } from '../contracts/context.ts';
import type { Generation } from '../contracts/language-model.ts';
import type { Policy, Proposal, ProposeRequest } from '../contracts/policy.ts';
import { inPlaces, proposalsOfAll } from './outcomes.ts';

/**
 * Combines several policies as arms, such as several models with the same prompts. If an algorithm names an arm, all
 * samples are drawn from it. Otherwise sample `i` goes to arm `i mod m` of `m`, or each sample's arm is drawn by
 * `weights` with the random numbers of the search.
 *
 * Each completion names the model that wrote it, as `provider:modelId`.
 *
 * If some arms give priors, the other arms get equal shares, and all are multiplied by the arm's part of the samples:
 * `P(s, a) = Σ wₖ Pₖ(s, a)`. Priors of a named arm are unchanged.
 *
 * An arm that fails or has too few actions does not affect the others: its missing proposals are failures, so that the
 * node does not count as complete. Only if all arms were asked and all have too few are there fewer proposals.
 *
 * @throws EspalierError `usage` for an unknown arm.
 * @see Inoue et al., "Wider or Deeper? Scaling LLM Inference-Time Compute with Adaptive Branching Tree Search",
 * 2025, the multi-LLM AB-MCTS.
 */
export function multiModel<State, Action>(options: {
  /** The policies by arm name, usually one per model: one or more. */
  readonly arms: Readonly<Record<string, Policy<State, Action>>>;
  /**
   * The relative probability of each arm when an algorithm names none: numbers from 0 up. An arm that is left out is
   * drawn only when named.
   *
   * @defaultValue none: the arms take turns
   */
  readonly weights?: Readonly<Record<string, number>>;
}): Policy<State, Action> {
  expectOptions('multiModel', options, 'arms weights');
  const { arms, weights } = options;
  expectObject('arms', arms);
  const names = Object.keys(arms);
  if (names.length === 0) throw expectation('arms', 'one policy or more', arms);
  for (const name of names) expectMethods(`arms.${name}`, arms[name], ['propose']);
  if (weights !== undefined) expectWeights(weights, names);

  return {
    ...provenanceOf(...Object.values(arms)),
    async propose(node, request) {
      const { context, count, offset } = request;
      const isNamed = request.arm !== undefined;
      const draws = isNamed
        ? [named(request.arm, request, names)]
        : dealt({ names, weights, random: context.random }, { count, offset });
      const tasks = draws.map((draw) => {
        const policy = arms[draw.arm] as Policy<State, Action>;
        const asked = requestFor(request, draw);
        const ask = async () => policy.propose(node, asked);
        return { count: Number.isFinite(draw.count) ? draw.count : 1, ask };
      });
      const lists = await proposalsOfAll(tasks, context);
      const isOver =
        !isNamed &&
        draws.length === names.length &&
        draws.every((draw, place) => (lists[place]?.length ?? 0) < draw.count);
      const whole = draws.map((draw, place) => filled(lists[place] ?? [], draw, isOver));
      return isNamed ? whole.flat() : mixed(whole, draws);
    },
  };
}

/** The request to one arm. */
interface Draw {
  readonly arm: string;
  readonly count: number;
  readonly offset: number;
  /** Its share of the samples. */
  readonly share: number;
  /** The positions of its samples; empty if all actions are requested. */
  readonly places: readonly number[];
}

function named(
  arm: string | undefined,
  { count, offset }: ProposeRequest,
  names: readonly string[],
): Draw {
  if (arm === undefined || !names.includes(arm)) {
    throw expectation('arm', `one of ${names.join(', ')}`, arm);
  }
  return { arm, count, offset, share: 1, places: [] };
}

interface Dealing {
  readonly names: readonly string[];
  readonly weights: Readonly<Record<string, number>> | undefined;
  readonly random: Random;
}

/** Assigns samples to arms; arms without a sample are left out. */
function dealt(
  dealing: Dealing,
  { count, offset }: { readonly count: number; readonly offset: number },
): readonly Draw[] {
  const { names } = dealing;
  if (!Number.isFinite(count)) {
    const shares = sharesOf(dealing);
    return names.flatMap((arm, place): readonly Draw[] => {
      const share = shares[place] ?? 0;
      return share > 0 ? [{ arm, count, offset, share, places: [] }] : [];
    });
  }
  const picks = Array.from({ length: count }, (_, place) => pick(dealing, offset + place));
  let next = offset;
  return names.flatMap((arm): readonly Draw[] => {
    const places = picks.flatMap((picked, place) => (picked === arm ? [place] : []));
    if (places.length === 0) return [];
    // Arms get disjoint ranges, so that equal arms do not draw the same samples.
    const draw = { arm, count: places.length, offset: next, share: places.length / count, places };
    next += places.length;
    return [draw];
  });
}

function sharesOf({ names, weights }: Dealing): readonly number[] {
  if (weights === undefined) return names.map(() => 1 / names.length);
  const total = names.reduce((sum, name) => sum + (weights[name] ?? 0), 0);
  return names.map((name) => (weights[name] ?? 0) / total);
}

function pick(dealing: Dealing, index: number): string | undefined {
  const { names, weights, random } = dealing;
  if (weights === undefined) return names[index % names.length];
  const shares = sharesOf(dealing);
  const place = placeOf(shares, random.next());
  // Rounded shares may sum to slightly less than 1.
  return names[place < 0 ? shares.findLastIndex((share) => share > 0) : place];
}

function requestFor<State, Action>(
  { environment, context, independent = false, remaining }: ProposeRequest<State, Action>,
  { arm, count, offset }: Draw,
): ProposeRequest<State, Action> {
  const named = namingContext(context, context.random.split('arm', arm));
  return { environment, context: named, count, offset, independent, remaining };
}

/** Fills up with failures to the requested number of proposals, if other arms may have more. */
function filled<Action>(
  proposals: readonly Proposal<Action>[],
  { arm, count }: Draw,
  isOver: boolean,
): readonly Proposal<Action>[] {
  const lacking = count - proposals.length;
  if (isOver || !Number.isFinite(count) || lacking <= 0) return proposals;
  const message = `The arm \`${arm}\` has ${proposals.length} of ${count} actions.`;
  const none = Array.from(
    { length: lacking },
    () => ({ failure: { kind: 'empty', message } }) as const,
  );
  return [...proposals, ...none];
}

/** The proposals of all arms in the order of their samples, with the priors of the mixture. */
function mixed<Action>(
  lists: readonly (readonly Proposal<Action>[])[],
  draws: readonly Draw[],
): readonly Proposal<Action>[] {
  const hasPriors = lists
    .flat()
    .some((proposal) => 'action' in proposal && proposal.prior !== undefined);
  const told = lists.map((list, arm) =>
    hasPriors ? list.map((one) => weighed(one, draws[arm]?.share ?? 0, list.length)) : list,
  );
  return inPlaces(
    told,
    draws.map(({ places }) => places),
  );
}

function weighed<Action>(
  proposal: Proposal<Action>,
  share: number,
  siblings: number,
): Proposal<Action> {
  if ('failure' in proposal) return proposal;
  return { ...proposal, prior: share * (proposal.prior ?? 1 / siblings) };
}

function expectWeights(weights: Readonly<Record<string, number>>, names: readonly string[]): void {
  expectObject('weights', weights);
  for (const [name, weight] of Object.entries(weights)) {
    if (!names.includes(name)) throw expectation('weights', `arms among ${names.join(', ')}`, name);
    expectNumber(`weights.${name}`, weight, { min: 0 });
  }
  const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0 && Number.isFinite(total))) {
    throw expectation('weights', 'numbers of which one is above 0', total);
  }
}

/** The same context with other random numbers. Each completion names its model, unless it already does. */
function namingContext(context: CallContext, random: CallContext['random']): CallContext {
  return contextWith(context, {
    random,
    async call(operation, request) {
      const result = await context.call(operation, request);
      if (operation.kind !== 'generate') return result;
      const generation = result as Generation;
      const completions = generation.completions.map((completion) => ({
        ...completion,
        model: completion.model ?? operation.name,
      }));
      return { ...result, completions };
    },
  });
}
