import { isHeldOut } from '../backends/tiny/held-out.ts';
import { type TinyModel, tiny } from '../backends/tiny/index.ts';
import { counted } from '../base/counted.ts';
import { seededRandom } from '../base/random.ts';
import { type ComparisonRow, compare, type Method } from '../bench/compare.ts';
import { pairedDifference } from '../bench/metrics.ts';
import { gameOf24, solvablePuzzles } from '../environments/index.ts';
import { tasks } from '../runs/tasks.ts';
import { renderTree } from '../tree/render.ts';
import {
  type DemoMethod,
  demoMethods,
  type GameAttempt,
  type GameResult,
  solveGame,
} from './demo-methods.ts';
import { type Interruption, interrupted, listenForInterruption } from './interruption.ts';
import { print, StatusLine } from './output.ts';
import { table } from './table.ts';
import { legend } from './tree.ts';

/** What `espalier demo` was asked for. */
export interface DemoRequest {
  readonly json?: boolean;
  readonly puzzles: number;
  readonly calls: number;
  readonly seed: number | string;
}

type Numbers = readonly number[];

/**
 * Runs `espalier demo`: draws one search, then compares four methods on the same puzzles. Resolves to the exit code.
 */
export async function runDemoCommand(request: DemoRequest): Promise<number> {
  const interruption = listenForInterruption();
  const began = performance.now();
  // The model draws by its own seed: another seed shows other samples too.
  await using model = tiny({
    seed: seededRandom(request.seed)
      .split('model')
      .integer(2 ** 31),
  });
  if (request.json !== true) print(`${await picture({ model, interruption, ...request })}\n`);
  const unseen = solvablePuzzles()
    .map(({ numbers }) => numbers)
    .filter((numbers) => isHeldOut(gameOf24.format({ numbers })));
  const problems = sample(unseen, request);
  if (request.json !== true) print(`${introduction(problems.length, unseen.length, request)}\n`);
  const comparison = await measure(problems, { model, interruption, ...request });
  const seconds = (performance.now() - began) / 1000;
  const differences = differencesOf(comparison.solved);
  if (request.json === true) {
    print(JSON.stringify({ rows: comparison.rows, differences }, undefined, 2));
  } else {
    const stats = await model.stats();
    print(table([heading, ...comparison.rows.map(cells)]));
    print(`\n${conclusion(differences, { ...stats, wall: seconds })}`);
  }
  return interruption.requested ? interrupted : 0;
}

/** Different puzzles, each as likely as any other. */
function sample(all: readonly Numbers[], { puzzles, seed }: DemoRequest): readonly Numbers[] {
  const random = seededRandom(seed);
  const rest = [...all];
  const size = Math.min(puzzles, rest.length);
  return Array.from({ length: size }, () => rest.splice(random.integer(rest.length), 1)).flat(1);
}

interface Setting extends DemoRequest {
  readonly model: TinyModel;
  readonly interruption: Interruption;
}

/** One search, as it looks from inside. */
async function picture(setting: Setting): Promise<string> {
  const numbers = [2, 4, 6, 7];
  const result = await attempt(setting, { method: demoMethods.mcts, numbers, seed: setting.seed });
  const { format } = gameOf24.environment({ numbers }).notation;
  const path = result.actions.map(format);
  const end = result.solved
    ? `${tasks.game24.answer(result.best.state, path)} = 24, found in ${counted(result.spend.calls, 'call')}.`
    : `Not solved in ${counted(result.spend.calls, 'call')}.`;
  return [
    `Model: ${setting.model.modelId}, the toy that comes with the package, in this process. No key, no network.`,
    '',
    `Game of 24: make 24 from ${numbers.join(', ')}. The tree of one search, by MCTS:`,
    '',
    renderTree(result.tree, { depth: 2, breadth: 3, format }),
    '',
    legend,
    '',
    end,
  ].join('\n');
}

function introduction(size: number, all: number, { calls }: DemoRequest): string {
  return [
    `${size} of the ${all} solvable puzzles that the model has never seen, drawn at random, the same for`,
    `every method, with at most ${counted(calls, 'call')} of the model each. A call is one proposed step or one judgement:`,
    'the same model proposes and judges.',
  ].join('\n');
}

function attempt(
  { model, calls, interruption }: Setting,
  { method, numbers, seed }: Pick<GameAttempt, 'method' | 'numbers' | 'seed'>,
): Promise<GameResult> {
  const stopped = () => interruption.requested;
  return solveGame({ model, method, numbers, seed, calls, stopped });
}

async function measure(problems: readonly Numbers[], setting: Setting) {
  const status = new StatusLine();
  try {
    return await compare({
      problems,
      methods: Object.values(demoMethods).map((method) => methodOf(setting, method)),
      onProgress: (done) => status.show(() => `${done} of ${counted(problems.length, 'puzzle')}`),
      stopped: () => setting.interruption.requested,
    });
  } finally {
    status.clear();
  }
}

function methodOf(setting: Setting, method: DemoMethod): Method<Numbers> {
  return {
    name: method.name,
    async run(numbers, index) {
      const seed = `${setting.seed}/${index}`;
      const { solved, spend } = await attempt(setting, { method, numbers, seed });
      return { solved, calls: spend.calls, tokens: spend.tokens, ms: spend.ms };
    },
  };
}

const heading = ['method', 'solved', 'share', '95 % interval', 'calls', 'tokens', 'ms'];

function cells(row: ComparisonRow): string[] {
  const { method, solved: count, of, low, high, calls, tokens, ms } = row;
  const share = of === 0 ? '–' : percent(count / of);
  const interval = `${percent(low)} to ${percent(high)}`;
  const amounts = [calls.toFixed(1), tokens.toFixed(0), ms.toFixed(0)];
  return [method, `${count}/${of}`, share, interval, ...amounts];
}

/** How much more one method solved than another, on the same puzzles. */
function differencesOf(solved: readonly (readonly boolean[])[]) {
  const methods = Object.values(demoMethods);
  return methods.slice(1).map(({ name }, place) => {
    // Best of N against greedy; the two searches against best of N.
    const other = place === 0 ? 0 : 1;
    const pair = pairedDifference(solved[place + 1] ?? [], solved[other] ?? []);
    return { method: name, than: methods[other]?.name ?? '', ...pair };
  });
}

/** What the table says about the question behind it: does a search pay? */
function conclusion(
  differences: ReturnType<typeof differencesOf>,
  { computed, reused, wall }: Readonly<Record<'computed' | 'reused' | 'wall', number>>,
): string {
  const rate = Math.round(computed / wall).toLocaleString('en');
  return [
    'Calls, tokens and ms are means per puzzle; a method stops at its first solution. On the same puzzles:',
    ...differences.map(
      ({ method, than, difference, low, high }) =>
        `${method} less ${than}: ${points(difference)} points, 95 % interval ${points(low)} to ${points(high)}.`,
    ),
    `${wall.toFixed(0)} s: ${thousands(computed)} tokens computed (${rate} a second), ${thousands(reused)} reused.`,
  ].join('\n');
}

function thousands(count: number): string {
  return count.toLocaleString('en');
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function points(difference: number): string {
  const text = (100 * difference).toFixed(1);
  return difference < 0 ? text.replace('-', '−') : `+${text}`;
}
