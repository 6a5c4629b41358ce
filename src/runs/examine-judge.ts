import { modelName } from '../base/model-name.ts';
import type { Environment, Notation } from '../contracts/environment.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import { uniform } from '../policies/uniform.ts';
import type { SearchAlgorithm } from '../search/contracts.ts';
import { search } from '../search/search.ts';
import { type JudgeReport, judgeReport } from '../values/calibrate/judge-report.ts';
import { judge } from '../values/judge/judge.ts';
import type { LabelledState } from './labelled-states.ts';

/** The measured quality of a model as a judge. */
export interface JudgeExamination {
  /** The model, as `provider:modelId`. */
  readonly model: string;
  /** Its quality; absent if too little could be judged. */
  readonly judge?: JudgeReport;
  /** Why it could not be measured, or why some states could not be judged. */
  readonly failure?: string;
  /** The cost of all judgements. */
  readonly spend: Readonly<Record<'calls' | 'tokens', number>>;
}

/** The number of states judged at once. */
const together = 8;

/** Asks a model, as `judge` does without options, about states that are known to be good or bad. */
export async function examineJudge(
  model: LanguageModel,
  states: readonly LabelledState[],
  {
    repeats,
    onJudged,
  }: {
    /** How often each state is judged. */
    readonly repeats: number;
    /** Called with the number of states done. */
    readonly onJudged?: (done: number) => void;
  },
): Promise<JudgeExamination> {
  const {
    tree,
    spend,
    failures,
    failure: end,
  } = await search<number, number>(listOf(states), {
    policy: uniform(() => [...states.keys()]),
    evaluator: judge({ model }),
    algorithm: judging(repeats, onJudged),
    budget: { simulations: states.length },
    concurrency: together,
  });
  const judged = states.map(({ good, problem }, place) => {
    const values = tree.root.children[place]?.evaluations.map(({ value }) => value) ?? [];
    return { values, good, problem };
  });
  const scored = judged.filter(({ values }) => values.length > 0);
  const isMeasured = scored.some(({ good }) => good) && scored.some(({ good }) => !good);
  const [failure = end] = failures.first;
  return {
    model: modelName(model),
    ...(isMeasured && { judge: judgeReport(judged) }),
    ...(failure !== undefined && { failure: failure.message }),
    spend: { calls: spend.calls, tokens: spend.tokens },
  };
}

/** A tree of one level, with one node per state. */
function listOf(states: readonly LabelledState[]): Environment<number, number> {
  const notation: Notation<number, number> = {
    prompt: (place) => [{ role: 'user', content: states[place]?.state ?? '' }],
    format: String,
    parse: (text) => ({ action: Number(text) }),
  };
  return {
    name: 'labelled-states',
    reset: () => ({ state: -1 }),
    step: (_, place) => ({ state: place }),
    notation,
  };
}

function judging(repeats: number, onJudged: ((done: number) => void) | undefined): SearchAlgorithm {
  return {
    name: 'judging',
    concurrency: 'any',
    laws: [],
    async run({ root }, context) {
      await context.expand(root);
      let done = 0;
      await context.round('states', root.children, async (node) => {
        for (let sample = 0; sample < repeats && node.status === 'open'; sample++) {
          await context.evaluate([node], { again: sample > 0 });
        }
        onJudged?.(++done);
      });
    },
  };
}
