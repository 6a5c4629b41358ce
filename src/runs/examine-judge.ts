import { modelName } from '../base/model-name.ts';
import type { Environment, Notation } from '../contracts/environment.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import { uniform } from '../policies/uniform.ts';
import type { SearchAlgorithm } from '../search/contracts.ts';
import { search } from '../search/search.ts';
import { type JudgeReport, judgeReport } from '../values/calibrate/judge-report.ts';
import { judge } from '../values/judge/judge.ts';
import type { LabelledState } from './labelled-states.ts';

/** What a model turned out to be as a judge. */
export interface JudgeExamination {
  /** The model, as `provider:modelId`. */
  readonly model: string;
  /** How good it is; absent where too little could be judged. */
  readonly judge?: JudgeReport;
  /** Why it could not be measured, or what became of the states that could not be judged. */
  readonly failure?: string;
  /** What all judgements cost. */
  readonly spend: Readonly<Record<'calls' | 'tokens', number>>;
}

/** So many states are judged at once. */
const together = 8;

/** Asks a model, as `judge` does without options, about states of which is known whether they are good. */
export async function examineJudge(
  model: LanguageModel,
  states: readonly LabelledState[],
  {
    repeats,
    onJudged,
  }: {
    /** How often each state is judged. */
    readonly repeats: number;
    /** Hears how many states are done. */
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

/** A tree of one level, with a node a state. */
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
