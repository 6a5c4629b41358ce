/**
 * `npm run bench:data`: 1,000,000 preference pairs of 10,000 trees, streamed to Parquet and to JSON lines, each in a
 * fresh process on one core. Fails below 50,000 rows a second, or above 300 MB of memory.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../src/base/random.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import { trl } from '../../src/data/formats/trl.ts';
import { preferences } from '../../src/data/pairs/preferences.ts';
import type { RowNotation, TreeRecord } from '../../src/data/record.ts';
import type { DatasetFile } from '../../src/data/writers/options.ts';
import { writeDataset } from '../../src/data/writers/write-dataset.ts';
import { SearchTree } from '../../src/tree/tree.ts';

const { values } = parseArgs({
  options: {
    trees: { type: 'string', default: '10000' },
    /** Measures here, and not in a fresh process. */
    file: { type: 'string' },
  },
});
const trees = Number(values.trees);
const depth = 10;
const siblings = 5;
/** Each two siblings make a pair. */
const pairsPerTree = (depth * siblings * (siblings - 1)) / 2;
const least = 50_000;
const most = 300;

type State = readonly string[];

const notation: RowNotation<State, string> = {
  delimiter: '\n',
  format: (step) => step,
  prompt: ([question = '', ...steps]) => [
    { role: 'system', content: 'Solve the problem step by step.' },
    { role: 'user', content: question },
    ...(steps.length === 0
      ? []
      : [{ role: 'assistant' as const, content: `${steps.join('\n')}\n` }]),
  ],
};

const nouns = 'apples trains workers marbles litres tickets pages coins meals seeds'.split(' ');

/** A step as a model writes it, of about 80 characters. */
function stepText(place: number, random: () => number): string {
  const [left, right] = [Math.floor(random() * 900), Math.floor(random() * 900)];
  const noun = nouns[Math.floor(random() * nouns.length)] ?? '';
  return `Step ${place}: Together that makes ${left} + ${right} = ${left + right} ${noun}, so ${noun} remain.`;
}

/** A finished tree: a path of ten steps, each chosen among five siblings that were visited and evaluated. */
function grow(problem: number): TreeRecord<State, string> {
  const random = seededRandom(problem);
  const next = (): number => random.next();
  const question = `Problem ${problem}: ${stepText(0, next).repeat(2)} How many are left in the end?`;
  const tree = new SearchTree<State, string>([question], { environment: 'text', seed: problem });
  let parent: SearchNode<State, string> = tree.root;
  for (let level = 1; level <= depth; level++) {
    const children = tree.add(
      parent,
      Array.from({ length: siblings }, () => ({ action: stepText(level, next), prior: 0.2 })),
    );
    const state = parent.state ?? [];
    for (const child of children) {
      const isLast = level === depth;
      tree.realise(child, {
        state: [...state, child.action],
        ...(isLast && { terminal: true, reward: next() }),
      });
      tree.addEvaluation(child, { value: next(), parts: { judge: next() } });
      tree.backup(child);
    }
    parent = children[0] ?? parent;
  }
  return {
    problem: `problem-${problem}`,
    tree,
    notation,
    method: 'mcts',
    models: ['openai:gpt-4o-mini'],
  };
}

/** What this process has had of a core, in milliseconds: others may be using it as well. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function* problems(): Generator<readonly TreeRecord<State, string>[]> {
  for (let problem = 0; problem < trees; problem++) yield [grow(problem)];
}

async function measure(file: DatasetFile): Promise<void> {
  const out = mkdtempSync(join(tmpdir(), 'espalier-data-'));
  const format = trl();
  const rule = preferences({
    name: 'all-pairs',
    nodes: 'all',
    siblings: 'all-ordered',
    score: ({ value }) => value,
  });
  const before = cpu();
  for (const _ of problems());
  const start = cpu();
  const growing = start - before;
  const { rows } = await writeDataset({
    out,
    file,
    problems: problems(),
    configs: [{ name: 'dpo', rule, format }],
  });
  const seconds = (cpu() - start - growing) / 1_000;
  const bytes = readdirSync(join(out, 'dpo')).reduce(
    (sum, name) => sum + statSync(join(out, 'dpo', name)).size,
    0,
  );
  rmSync(out, { recursive: true });
  const speed = rows / seconds;
  const memory = process.resourceUsage().maxRSS / 1024;
  process.stdout.write(
    `${file.padEnd(7)}  ${rows.toLocaleString('en')} rows in ${seconds.toFixed(1)} s: ${Math.round(speed).toLocaleString('en')} rows/s, ${Math.round(memory)} MB at most, ${Math.round(bytes / 1e6)} MB written; growing the trees took ${(growing / 1_000).toFixed(1)} s more\n`,
  );
  if (rows < trees * pairsPerTree * 0.99) throw new Error(`Only ${rows} rows were made.`);
  if (speed < least || memory > most) process.exitCode = 1;
}

/** Pinned to one core where the system can do that. */
function inFreshProcess(file: DatasetFile): void {
  const own = [process.execPath, '--import', 'tsx', fileURLToPath(import.meta.url)];
  const options = ['--file', file, '--trees', values.trees];
  const canPin = spawnSync('taskset', ['--version']).status === 0;
  const [command = '', ...rest] = canPin ? ['taskset', '-c', '0', ...own] : own;
  try {
    execFileSync(command, [...rest, ...options], { stdio: 'inherit' });
  } catch {
    process.exitCode = 1;
  }
}

const { file } = values;
if (file === 'parquet' || file === 'jsonl') {
  await measure(file);
} else {
  for (const each of ['parquet', 'jsonl'] as const) inFreshProcess(each);
  process.stdout.write(`At least ${least.toLocaleString('en')} rows/s, at most ${most} MB.\n`);
}
