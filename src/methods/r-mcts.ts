import { expectBoolean } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { provenanceOf } from '../base/provenance.ts';
import type { Memory } from '../contracts/memory.ts';
import { contrastive } from '../memory/contrastive.ts';
import { inMemoryStore } from '../memory/in-memory-store.ts';
import { lessons } from '../memory/lessons.ts';
import { memory as newMemory } from '../memory/memory.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { mostFrequent } from '../policies/most-frequent.ts';
import { mcts } from '../search/algorithms/mcts.ts';
import { stepwise } from '../search/algorithms/stepwise.ts';
import { withReflection } from '../search/algorithms/with-reflection.ts';
import { solved } from '../search/stop-conditions.ts';
import { descend, puct } from '../tree/selection.ts';
import { debate } from '../values/judge/debate.ts';
import { judge } from '../values/judge/judge.ts';
import {
  type Method,
  type MethodEntry,
  methodOptions,
  type WideningMethodOptions,
} from './method.ts';

/** Options of {@link rMcts}. */
export interface RMctsOptions extends WideningMethodOptions {
  /** The problem as text, used to retrieve lessons. @defaultValue the name of the environment */
  readonly task?: string;
  /** The store of lessons. @defaultValue a private in-process memory */
  readonly memory?: Memory;
  /** c, the weight of the prior: from 0 up. @defaultValue 1, the paper's */
  readonly c?: number;
  /** Samples for each expansion: an integer from 1 up. @defaultValue 20, the reference code's */
  readonly samples?: number;
  /** b, the number of them kept: an integer from 1 up. @defaultValue 5, the scripts' */
  readonly width?: number;
  /** Simulations for each committed action: an integer from 1 up. @defaultValue 20, the reference code's */
  readonly simulations?: number;
  /** The lookahead of a simulation, in actions: an integer from 1 up. @defaultValue 4, the scripts' */
  readonly horizon?: number;
  /** The maximum number of actions to take: an integer from 1 up. @defaultValue no limit */
  readonly maxSteps?: number;
  /** Whether it reflects at the end. If not, existing lessons are still used. @defaultValue true */
  readonly reflects?: boolean;
  /** The fraction of the budget reserved for reflection: in [0, 1). @defaultValue 0.1, ours */
  readonly reserve?: number;
}

/**
 * R-MCTS: reflective tree search. Lessons from earlier tasks guide policy and judge; actions are committed one at a
 * time; at the end, steps and judgements that did not turn out as expected become new lessons.
 *
 * - Selection: `argmax Q(s, a) + c · P(s, a) · √N(s) / (1 + N(s, a))`, with N(s) = Σ N(s, a), and √N taken as 1
 *   before the first of them.
 * - Expansion: 20 samples; equal ones are one action; the most frequent are kept, with
 *   `P(s, a) = n(a) / Σ n(b)` over those kept.
 * - Value of a leaf: a {@link debate}, six judgements with the order of the arguments swapped, their mean.
 * - Commit: the action with the most visits, ties going to the higher Q.
 * - Afterwards: {@link contrastive} reflection, at most three steps and one judgement.
 *
 * Differences from the reference code: the root is a leaf like any other, expanded by a simulation and valued by a
 * debate, where the code expands it beforehand and never judges it; the subtree below the committed action is kept; a
 * search ends early with a solved path, not with a mean that happens to equal 1; fully explored nodes are not
 * revisited, and are chosen by value; a failed debate leaves the node without a value, where the code uses 0;
 * unreadable proposals are failures, where the code makes actions of them; the option for c is honoured. The training
 * data of its exploratory learning is not part of the method.
 *
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024
 * (arXiv 2410.02052), R-MCTS.
 */
export function rMcts(options: RMctsOptions): Method {
  const own = 'widening task memory c samples width simulations horizon maxSteps reflects reserve';
  expectOptions('rMcts', options, `${methodOptions} ${own}`);
  const { model, judgeModel = model, maxTokens = 256 } = options;
  const { c = 1, samples = 20, width = 5 } = options;
  const { simulations = 20, horizon = 4, maxSteps = Number.POSITIVE_INFINITY } = options;
  const { reserve = 0.1, reflects = true, widening } = options;
  expectBoolean('reflects', reflects);
  const { memory = newMemory({ store: inMemoryStore() }) } = options;
  const about = { memory, ...(options.task !== undefined && { task: options.task }) };
  const told = (kind: 'policy' | 'value') => [lessons({ ...about, kind })];
  const sampling = { model, topP: 0.95, maxTokens, promptParts: told('policy') };
  const reflection = contrastive({ model, ...about });
  const evaluator = debate({ model: judgeModel, promptParts: told('value') });
  const search = stepwise(
    mcts({
      selection: descend(puct({ cInit: c, cBase: Number.POSITIVE_INFINITY, parentVisits })),
      evaluate: 'leaf',
      width,
      horizon,
      widening,
    }),
    { simulations, maxSteps },
  );
  const { reflect } = reflection;
  return {
    name: rMctsEntry.name,
    policy: mostFrequent(fromModel(sampling), { samples, keep: width }),
    evaluator: { ...evaluator, ...provenanceOf(evaluator, ...(reflects ? [reflection] : [])) },
    algorithm: reflects ? withReflection(search, { reflect, reserve }) : search,
    stopWhen: [solved()],
  };
}

/** N(s) = Σ N(s, a), at least 1: the first visit of every node with children was its own evaluation. */
function parentVisits(visits: number): number {
  return Math.max(1, visits - 1);
}

/** List entry of R-MCTS (ExACT). */
export const rMctsEntry: MethodEntry = {
  name: 'r-mcts',
  title: 'R-MCTS (ExACT)',
  paper:
    'Yu et al., ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning, 2024, arXiv 2410.02052',
  create: rMcts,
  plain: (options) => ({
    evaluator: judge({ model: options.model }),
    algorithm: rMcts({ ...options, reflects: false }).algorithm,
  }),
};
