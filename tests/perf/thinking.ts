// What does it cost to search over steps with a model that thinks before each answer? Steps and whole answers as the
// nodes of a search, at equal tokens, with the same simulated model behind an emulator. The model is a calculation with
// stated chances, and thinking makes it no better: so the figures show what thoughts cost where they are paid for each
// step, and nothing of how good any model is.
//
// A problem is a chain of additions and doublings. The model gets each line right with the chance `--right`, whether it
// writes one line or all of them, and goes on from whatever stands there. As a judge, and as a reviewer, it tells a text
// with a wrong line from one without with the chance `--judge`. A review names the first wrong line, or, where it errs,
// none, or one that was right; what is written anew begins at that line. Thoughts are a fixed number of tokens a request.
import { parseArgs } from 'node:util';
import {
  abMcts,
  bestFirst,
  bestOfN,
  type Environment,
  type LanguageModel,
  mcts,
  type SearchAlgorithm,
  type SearchOptions,
  type SearchResult,
  search,
  seededRandom,
  valueWidening,
} from 'espalier';
import { openai } from 'espalier/backends';
import { reasoning } from 'espalier/environments';
import { fromModel, selfRefine } from 'espalier/policies';
import { type EmulatedAnswer, type EmulatedQuestion, emulator } from 'espalier/testing';
import { judge } from 'espalier/values';
import { table } from '../../src/base/table.ts';
import { pairedDifference } from '../../src/bench/metrics.ts';
import { compare, type Method } from './side-by-side.ts';

const { values } = parseArgs({
  options: {
    problems: { type: 'string', default: '60' },
    /** The lines of a right answer. */
    lines: { type: 'string', default: '5' },
    /** The chance of a line to be right. */
    right: { type: 'string', default: '0.85' },
    /** The chance of a verdict to be right. */
    judge: { type: 'string', default: '0.8' },
    /** Tokens of thought for a whole answer. */
    thoughts: { type: 'string', default: '300' },
    /** What a problem may cost, in tokens, as `10000,20000`. */
    tokens: { type: 'string', default: '6000,12000' },
    seed: { type: 'string', default: '0' },
  },
});
const [lines, right, judgement, thoughts] = [
  ...[values.lines, values.right, values.judge, values.thoughts].map(Number),
] as [number, number, number, number];

/** How many tokens are thought before a line or a verdict is written, and before a whole answer or a review. */
interface Thinking {
  readonly name: string;
  readonly line: number;
  readonly whole: number;
}
const ways: readonly Thinking[] = [
  { name: 'no thoughts', line: 0, whole: 0 },
  { name: 'thoughts as long as the task', line: Math.round(thoughts / lines), whole: thoughts },
  { name: 'the same thoughts for each request', line: thoughts, whole: thoughts },
];

interface Problem {
  readonly question: string;
  readonly start: number;
  readonly operations: readonly Operation[];
}
type Operation = readonly ['+' | '*', number];

const problems = Array.from({ length: Number(values.problems) }, (_, index): Problem => {
  const random = seededRandom(values.seed).split('problem', index);
  const start = 10 + random.integer(90);
  const operations = Array.from(
    { length: lines },
    (): Operation => (random.integer(3) === 0 ? ['*', 2] : ['+', 10 + random.integer(90)]),
  );
  const told = operations.map(([sign, by]) => (sign === '+' ? `add ${by}` : `double it`));
  const question = `Number ${index}. Begin with ${start}, then ${told.join(', then ')}. What comes out?`;
  return { question, start, operations };
});

/** A line, and whether the sum in it is right. */
interface Line {
  readonly text: string;
  readonly result: number;
  readonly isRight: boolean;
}

function applied([sign, by]: Operation, to: number): number {
  return sign === '+' ? to + by : to * by;
}

/** The lines that a text holds, be they steps or those of a whole answer. */
function linesIn(text: string): readonly Line[] {
  return [...text.matchAll(/(\d+) ([+*]) (\d+) = (\d+)/g)].map(
    ([line, from, sign, by, result]) => ({
      text: line,
      result: Number(result),
      isRight: applied([sign as '+' | '*', Number(by)], Number(from)) === Number(result),
    }),
  );
}

type Random = ReturnType<typeof seededRandom>;

/** One more line. A wrong one is off by up to nine. */
function nextLine({ start, operations }: Problem, before: readonly Line[], random: Random): Line {
  const from = before.at(-1)?.result ?? start;
  const operation = operations[before.length] ?? ['+', 0];
  const isRight = random.next() < right;
  const result = applied(operation, from) + (isRight ? 0 : 1 + random.integer(9));
  const text = `${from} ${operation[0]} ${operation[1]} = ${result}`;
  return { text, result, isRight };
}

/** The text of some lines, with the answer behind the last one. */
function written(all: readonly Line[], shown: readonly Line[] = all): string {
  const text = shown.map((line) => line.text).join('\n');
  return all.length < lines ? text : `${text}\nThe answer is ${all.at(-1)?.result}.`;
}

function whole(problem: Problem, kept: readonly Line[], random: Random): string {
  const all = [...kept];
  while (all.length < lines) all.push(nextLine(problem, all, random));
  return written(all);
}

/** What the simulated model writes, and whether that is as short as a line. */
function answerTo({ messages, sample }: EmulatedQuestion): Written {
  const all = messages.map(({ content }) => content);
  const asked = all.join('\n');
  const last = all.at(-1) ?? '';
  const random = seededRandom(values.seed).split(asked, sample);
  const problem = problems[Number(/Number (\d+)\./.exec(asked)?.[1])] as Problem;
  const held = linesIn(all[0] ?? '');
  if (last.includes('Judge how likely')) return { text: verdictOn(held, random), isShort: true };
  if (last.includes('strict reviewer')) return { text: reviewOf(held, random), isShort: false };
  if (last.includes('Write step')) {
    const line = nextLine(problem, held, random);
    return { text: written([...held, line], [line]), isShort: true };
  }
  const named = /Line (\d+) is wrong/.exec(asked)?.[1];
  const kept = last.includes('answer anew') ? held.slice(0, Number(named ?? lines + 1) - 1) : [];
  return { text: whole(problem, kept, random), isShort: false };
}

interface Written {
  readonly text: string;
  readonly isShort: boolean;
}

function verdictOn(held: readonly Line[], random: Random): string {
  const isWrong = held.some((line) => !line.isRight);
  const isMistaken = random.next() >= judgement;
  if (isWrong !== isMistaken) return 'impossible';
  return held.length < lines ? 'likely' : 'sure';
}

function reviewOf(held: readonly Line[], random: Random): string {
  const wrong = held.findIndex((line) => !line.isRight);
  const isMistaken = random.next() >= judgement;
  const imagined = wrong < 0 ? random.integer(lines) : -1;
  const named = isMistaken ? imagined : wrong;
  return named < 0 ? 'All lines are right.' : `Line ${named + 1} is wrong.`;
}

/** Whole answers as states: an action is one, and another one may take its place. */
function answersTo(
  { question }: Problem,
  end: 'answer' | 'terminal',
): Environment<{ readonly text?: string }, string> {
  return {
    name: 'whole answers',
    reset: () => ({ state: {} }),
    step: (_, text) => ({ state: { text }, [end]: true }),
    notation: {
      prompt: ({ text }) => [
        { role: 'user', content: text === undefined ? question : `${question}\n\n${text}` },
      ],
      format: (text) => text,
      parse: (text) => ({ action: text.trim() }),
    },
  };
}

interface Part {
  readonly name: string;
  readonly run: (
    problem: Problem,
    model: LanguageModel,
    given: Pick<SearchOptions, 'budget' | 'seed'>,
  ) => Promise<{
    readonly text: string;
    readonly result: Pick<
      SearchResult<unknown, unknown>,
      'failure' | 'spend' | 'stopReason' | 'usage'
    >;
  }>;
}
/** Of a whole answer, and of a review. */
const maxTokens = 40 * lines;
const judged = (model: LanguageModel) => judge({ model, samples: 1 });
const refined = (model: LanguageModel) =>
  selfRefine<{ readonly text?: string }, string>({
    ...{ model, maxTokens, critiqueTokens: 40, samples: 1 },
    refines: ({ state }) => state?.text !== undefined,
  });
/** A search over steps. */
function overSteps(name: string, algorithm: SearchAlgorithm): Part {
  return {
    name: `steps, ${name}`,
    async run({ question }, model, given) {
      const policy = fromModel({ model, maxTokens: 40, samples: 2 });
      const guided = { policy, evaluator: judged(model), algorithm };
      const result = await search(reasoning({ question }), { ...given, ...guided });
      return { text: result.best.state?.steps.join('\n') ?? '', result };
    },
  };
}

const parts: readonly Part[] = [
  overSteps('MCTS', mcts({ width: 2, evaluate: 'all', widening: valueWidening() })),
  overSteps('best first', bestFirst()),
  {
    name: 'answers, best of N',
    async run(problem, model, given) {
      const policy = fromModel({ model, maxTokens });
      const guided = { policy, evaluator: judged(model), algorithm: bestOfN() };
      const result = await search(answersTo(problem, 'terminal'), { ...given, ...guided });
      return { text: result.best.state?.text ?? '', result };
    },
  },
  {
    name: 'answers refined, AB-MCTS',
    async run(problem, model, given) {
      const policy = refined(model);
      const guided = { policy, evaluator: judged(model), algorithm: abMcts() };
      const result = await search(answersTo(problem, 'answer'), { ...given, ...guided });
      return { text: result.best.state?.text ?? '', result };
    },
  },
];
/** The one that the others are compared with: of those over steps it solves most. */
const base = 1;

/** The right answer, by arithmetic: no method is told it. */
function isRight({ start, operations }: Problem, text: string): boolean {
  const result = operations.reduce((from, operation) => applied(operation, from), start);
  return text.includes(`The answer is ${result}.`);
}

/** Of the tokens of a method, those of thoughts; and how many problems have an answer at all. */
interface Sums {
  answered: number;
  thoughts: number;
  tokens: number;
}

function methodFor(
  part: Part,
  {
    model,
    tokens,
    sums,
  }: {
    readonly model: LanguageModel;
    readonly tokens: number;
    readonly sums: Sums;
  },
): Method<Problem> {
  return {
    name: part.name,
    async run(problem, index) {
      const given = { budget: { tokens }, seed: `${values.seed}/${index}` };
      const { text, result } = await part.run(problem, model, given);
      if (result.stopReason === 'failed')
        throw new Error(`${part.name}: ${result.failure?.message}`);
      const { usage, spend } = result;
      sums.thoughts += usage.reduce((sum, { reasoningTokens }) => sum + reasoningTokens, 0);
      sums.tokens += spend.tokens;
      if (text.includes('The answer is')) sums.answered++;
      return { ...spend, solved: isRight(problem, text) };
    },
  };
}

const percent = (part: number, of: number) => `${((100 * part) / of).toFixed(0)} %`;
const points = (share: number) => (100 * share).toFixed(1);

process.stdout.write(
  `${problems.length} problems of ${lines} lines; a line is right with ${right}, a verdict with ${judgement}; seed ${values.seed}.\n`,
);
for (const { name, line, whole: long } of ways) {
  const server = await emulator({
    dialect: 'openai',
    models: ['thinker'],
    answer: (question): EmulatedAnswer => {
      const { text, isShort } = answerTo(question);
      return { text, reasoning: ' hmm'.repeat(isShort ? line : long) };
    },
  });
  const model = openai({
    ...{ model: 'thinker', baseUrl: `${server.url}/v1`, apiKey: 'emulated' },
    ...{ thoughtTokens: Math.max(line, long) },
  });
  for (const tokens of values.tokens.split(',').map(Number)) {
    const sums = parts.map((): Sums => ({ answered: 0, thoughts: 0, tokens: 0 }));
    const methods = parts.map((part, place) =>
      methodFor(part, { model, tokens, sums: sums[place] as Sums }),
    );
    const { rows, solved } = await compare({ problems, methods });
    const told = rows.map((row, place) => {
      const { difference, low, high } = pairedDifference(solved[place] ?? [], solved[base] ?? []);
      const spent = sums[place] as Sums;
      return [
        ...[row.method, percent(spent.answered, row.of), percent(row.solved, row.of)],
        `${points(row.low)} to ${points(row.high)}`,
        ...[row.calls.toFixed(1), row.tokens.toFixed(0), percent(spent.thoughts, spent.tokens)],
        place === base ? '–' : `${points(difference)} [${points(low)}, ${points(high)}]`,
      ];
    });
    process.stdout.write(
      `\n${name}: ${line} tokens for a line or a verdict, ${long} for an answer or a review; at most ${tokens} tokens a problem.\n\n${table(
        [
          [
            'nodes',
            'answered',
            'solved',
            '95 %',
            'calls',
            'tokens',
            'thoughts',
            'less best first, paired 95 %',
          ],
          ...told,
        ],
      )}\n`,
    );
  }
  await server.close();
}
