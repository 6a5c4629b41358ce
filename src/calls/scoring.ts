import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import { counted } from '../base/counted.ts';
import { expectArray, expectation, expectObject, expectText } from '../base/expect.ts';
import { isFailure } from '../base/failure.ts';
import type { Failure } from '../contracts/failure.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { ModelPrice, Usage } from '../contracts/language-model.ts';
import type { RewardModel, ScoreRequest, Solution, StepScores } from '../contracts/reward-model.ts';
import type { CallGate } from './call-gate.ts';
import type { LeftCalls } from './journal-index.ts';
import type { Ledger } from './ledger.ts';
import { actualCost, worstCaseOfScores } from './pricing.ts';
import { type ImpossibleUsages, sumOfUsages } from './usage.ts';

/** The scores of one solution, or why there are none. */
type Scores = StepScores['scores'][number];

/** Solutions that are asked for together. */
type Batch = readonly Solution[];

/** A reward model, its name in journals, and what it costs. */
export interface PricedRewardModel {
  readonly model: RewardModel;
  readonly name: string;
  readonly price: ModelPrice | undefined;
}

/** Buys the scores of solutions: those not bought yet in one request, those that a journal holds as they stand there. */
export class Scoring {
  readonly #gate: CallGate;
  readonly #ledger: Ledger;
  readonly #impossible: ImpossibleUsages;
  /** The batches that an earlier run left, and of each solution the last one. */
  #left: { readonly calls: LeftCalls; readonly batches: ReadonlyMap<string, Batch> } | undefined;

  constructor(gate: CallGate, ledger: Ledger, impossible: ImpossibleUsages) {
    this.#gate = gate;
    this.#ledger = ledger;
    this.#impossible = impossible;
  }

  async score(priced: PricedRewardModel, request: ScoreRequest): Promise<StepScores> {
    expectObject('request', request);
    const { solutions } = request;
    expectArray('solutions', solutions);
    for (const [place, solution] of solutions.entries()) {
      expectSolution(priced.model, solution, `solutions[${place}]`);
    }
    const keys = solutions.map((solution) => addressOf(priced.name, solution));
    const missing = solutions.filter(
      (_, place) =>
        keys.indexOf(keys[place] ?? '') === place && !this.#gate.bought.has(keys[place] ?? ''),
    );
    const purchases = this.#batches(priced.name, missing).map((batch) => this.#buy(priced, batch));
    const scores = await Promise.all(
      keys.map((key) => this.#gate.bought.get(key) as Promise<Scores>),
    );
    if (purchases.length === 0) return { scores };
    const usages = (await Promise.all(purchases)).flatMap((usage) => usage ?? []);
    return usages.length < purchases.length ? { scores } : { scores, usage: sumOfUsages(usages) };
  }

  /** In which requests solutions are bought: in those that an earlier run left, the others together. */
  #batches(name: string, missing: Batch): readonly Batch[] {
    if (missing.length === 0) return [];
    const left = this.#leftBatches(this.#gate.leftBeside(contentOf(name, missing)));
    if (left === undefined || left.has(addressOf(name, missing))) return [missing];
    const there = new Set<Batch>();
    const fresh: Solution[] = [];
    for (const solution of missing) {
      const batch = left.get(addressOf(name, solution));
      if (batch === undefined) fresh.push(solution);
      else there.add(batch);
    }
    return fresh.length === 0 ? [...there] : [...there, fresh];
  }

  #leftBatches(left: LeftCalls | undefined): ReadonlyMap<string, Batch> | undefined {
    if (left === undefined) return undefined;
    if (left === this.#left?.calls) return this.#left.batches;
    const batches = new Map<string, Batch>();
    for (const { kind, name, request } of this.#gate.intentsOf(left)) {
      if (kind !== 'score') continue;
      const { solutions } = request as unknown as ScoreRequest;
      batches.set(addressOf(name, solutions), solutions);
      for (const solution of solutions) batches.set(addressOf(name, solution), solutions);
    }
    this.#left = { calls: left, batches };
    return batches;
  }

  /** Starts buying a batch; resolves to what the request used. */
  #buy({ model, name, price }: PricedRewardModel, solutions: Batch): Promise<Usage | undefined> {
    const reserve = worstCaseOfScores({ solutions }, price);
    const call = this.#gate.call({
      ...contentOf(name, solutions),
      reserve,
      ledger: this.#ledger,
      repeatable: true,
      run: async (modelCall) => {
        const reply = await model.score({ solutions }, modelCall);
        expectObject(`reply of ${name}`, reply);
        const { scores } = reply;
        const usage = this.#impossible.soundUsage(name, reply.usage, modelCall);
        if (!Array.isArray(scores) || scores.length !== solutions.length) {
          const got = Array.isArray(scores) ? scores.length : 'no';
          throw new Error(`${name} gave ${got} lists of scores for ${solutions.length} solutions.`);
        }
        const sound = solutions.map((solution, place) =>
          soundScores(model, { name, solution, scores: scores[place] }),
        );
        return {
          output: {
            scores: sound,
            ...(usage !== undefined && { usage }),
          } as unknown as JsonValue,
          spend: actualCost(usage, reserve, price),
        };
      },
    });
    const answer = call.then(({ output }) => output as unknown as StepScores);
    for (const [place, solution] of solutions.entries()) {
      const key = addressOf(name, solution);
      const scores = answer.then((given) => given.scores[place] as Scores);
      this.#gate.bought.set(key, scores);
      // Asked for again, the gate decides anew whether the failure stands.
      scores.catch(() => this.#gate.bought.delete(key));
    }
    const used = answer.then(({ usage }) => usage);
    // Whoever asked hears of a failure through the scores.
    used.catch(() => {});
    return used;
  }
}

/** What a request for scores asks. */
function contentOf(name: string, solutions: Batch) {
  return { kind: 'score', name, request: { solutions } as unknown as JsonValue } as const;
}

function addressOf(name: string, content: Batch | Solution): string {
  return contentAddress(canonicalJson('solutions', [name, content]));
}

function expectSolution(
  { incremental = false, scores }: RewardModel,
  solution: Solution,
  name: string,
): void {
  expectObject(name, solution);
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

interface Given {
  readonly name: string;
  readonly solution: Solution;
  readonly scores: unknown;
}

/** Scores as they were given, or what is wrong with them. Too few or too many cannot be told which is whose. */
function soundScores(
  { scores: about = 'steps', range: [least, greatest] = [0, 1] }: RewardModel,
  { name, solution: { steps, from = 0 }, scores }: Given,
): Scores {
  if (isFailure(scores)) return scores;
  const wanted = about === 'solution' ? 1 : steps.length - from;
  if (!Array.isArray(scores) || scores.length !== wanted) {
    const got = Array.isArray(scores) ? scores.length : 'no';
    const of = about === 'solution' ? 'a solution' : counted(wanted, 'step');
    return invalid(`${name} gave ${counted(Number(got) || 0, 'score', got)} for ${of}.`);
  }
  const isSound = (score: unknown) =>
    typeof score === 'number' && score >= least && score <= greatest;
  const odd = scores.findIndex((score) => !isSound(score));
  if (odd < 0) return scores;
  return invalid(
    `${name} gave the score \`${String(scores[odd])}\`, which is not a number from ${least} to ${greatest}.`,
  );
}

function invalid(message: string): Failure {
  return { kind: 'invalid', message };
}
