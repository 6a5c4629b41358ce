import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';
import { counted } from '../../base/counted.ts';
import { expectArray, expectation, expectObject, expectText } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { isFailure } from '../../base/failure.ts';
import { modelName } from '../../base/model-name.ts';
import type { Failure } from '../../contracts/failure.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type {
  RewardModel,
  ScoreRequest,
  Solution,
  StepScores,
} from '../../contracts/reward-model.ts';
import type { LeftOf, ModelOperation, Parts } from './model-operation.ts';
import { ofModel } from './of-model.ts';
import { mostTokensIn } from './tokens.ts';

/** The scores of one solution, or why there are none. */
type Scores = StepScores['scores'][number];

/** Scores solutions: recorded requests are repeated unchanged, the remaining solutions are bought in one request. */
export function score(model: RewardModel): ModelOperation<ScoreRequest, StepScores> {
  const common = ofModel('score', model);
  return {
    ...common,
    check(request) {
      expectObject('request', request);
      expectOptions('context.score', request, 'solutions');
      expectArray('solutions', request.solutions);
      for (const [place, solution] of request.solutions.entries()) {
        expectSolution(model, solution, `solutions[${place}]`);
      }
    },
    address: ({ solutions }) => ({ solutions }) as unknown as JsonValue,
    worstCase: ({ solutions }) => ({
      calls: solutions.length,
      inputTokens: mostTokensIn(solutions.flatMap(({ prompt, steps }) => [prompt, ...steps])),
    }),
    run: (request, call) => model.score(request, call),
    accept: (request, reply) => accept(model, request, reply),
    isAnswer: ({ scores }) => !scores.some(isFailure),
    parts: partsOf(model),
    describedBy: ['scores', 'incremental', 'range'],
    telemetry: { operation: 'score' },
    extent: ({ solutions }, { scores }) => ({
      requests: solutions.reduce((sum, { steps }) => sum + steps.length + 1, 1),
      answers: scores.filter((one) => Array.isArray(one)).length,
    }),
  };
}

function partsOf(model: RewardModel): Parts<ScoreRequest, StepScores> {
  const keyOf = (solution: Solution): string =>
    contentAddress(canonicalJson('solutions', [modelName(model), solution]));
  return {
    of: ({ solutions }) => ({
      keys: solutions.map(keyOf),
      purchases(places, left) {
        const missing = places.map((place) => solutions[place] as Solution);
        const batches = missing.length === 0 ? [] : batchesOf({ solutions: missing }, left, keyOf);
        return batches.map((request) => ({ request, keys: request.solutions.map(keyOf) }));
      },
    }),
    inTurn: () => false,
    split: ({ scores }) => scores.map((one) => ({ scores: [one] })),
    join: (results, usage) => ({ scores: results.flatMap(({ scores }) => scores), usage }),
    keep: ({ scores: [scores] }) => scores,
    kept: (json) => ({ scores: [json as readonly number[]] }),
    requestOf: (address) => address as unknown as ScoreRequest,
  };
}

/** The requests in which solutions are bought: those of an earlier run, and one for the others. */
function batchesOf(
  missing: ScoreRequest,
  left: LeftOf<ScoreRequest>,
  keyOf: (solution: Solution) => string,
): readonly ScoreRequest[] {
  const before = left(missing);
  if (before === undefined || before.isAsked) return [missing];
  const there = new Set<ScoreRequest>();
  const fresh: Solution[] = [];
  for (const solution of missing.solutions) {
    const batch = before.holding(keyOf(solution));
    if (batch === undefined) fresh.push(solution);
    else there.add(batch);
  }
  return fresh.length === 0 ? [...there] : [...there, { solutions: fresh }];
}

function expectSolution(
  { incremental = false, scores }: RewardModel,
  solution: Solution,
  name: string,
): void {
  expectObject(name, solution);
  expectOptions(name, solution, 'prompt steps from');
  const { prompt, steps, from = 0 } = solution;
  expectText(`${name}.prompt`, prompt);
  expectArray(`${name}.steps`, steps);
  for (const [place, step] of steps.entries()) expectText(`${name}.steps[${place}]`, step);
  if (steps.length === 0 && scores !== 'solution') {
    throw expectation('steps', 'one step or more', steps);
  }
  const most = incremental ? steps.length - 1 : 0;
  if (from < 0 || from > most) throw expectation('from', `from 0 to ${most}`, from);
}

/** The scores of each solution, and the usage of the request. */
function accept(model: RewardModel, { solutions }: ScoreRequest, reply: StepScores): StepScores {
  const name = modelName(model);
  expectObject(`reply of ${name}`, reply);
  const { scores, usage } = reply;
  if (!Array.isArray(scores) || scores.length !== solutions.length) {
    const got = Array.isArray(scores) ? scores.length : 'no';
    throw new Error(`${name} gave ${got} lists of scores for ${solutions.length} solutions.`);
  }
  return {
    scores: solutions.map((solution, place) => soundScores(model, solution, scores[place])),
    ...(usage !== undefined && { usage }),
  };
}

/**
 * The scores of a solution, or the failure if they are invalid. If their number is wrong, they cannot be assigned to
 * steps.
 */
function soundScores(model: RewardModel, { steps, from = 0 }: Solution, scores: unknown): Scores {
  if (isFailure(scores)) return scores;
  const { scores: about = 'steps', range: [least, greatest] = [0, 1] } = model;
  const wanted = about === 'solution' ? 1 : steps.length - from;
  if (!Array.isArray(scores) || scores.length !== wanted) {
    const got = Array.isArray(scores) ? scores.length : 'no';
    const of = about === 'solution' ? 'a solution' : counted(wanted, 'step');
    return invalid(
      `${modelName(model)} gave ${counted(Number(got) || 0, 'score', got)} for ${of}.`,
    );
  }
  const isSound = (score: unknown) =>
    typeof score === 'number' && score >= least && score <= greatest;
  const odd = scores.findIndex((score) => !isSound(score));
  if (odd < 0) return scores;
  return invalid(
    `${modelName(model)} gave the score \`${String(scores[odd])}\`, which is not a number from ${least} to ${greatest}.`,
  );
}

function invalid(message: string): Failure {
  return { kind: 'invalid', message };
}
