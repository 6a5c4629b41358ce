/**
 * `npm run bench:tiny [-- --model FILE --repetitions N]`: the speed of our own runner beside llama.cpp, in one run
 * on one core, and how many tokens each of them computes. Exits with 1 where ours is below a fifth of llama.cpp,
 * or computes a token twice.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { chatOf } from '../../src/backends/in-process/chat.ts';
import type { LlamaFile } from '../../src/backends/tiny/gguf.ts';
import { readLlamaFile } from '../../src/backends/tiny/gguf.ts';
import { tokenizerOf } from '../../src/backends/tiny/tokenizer.ts';
import { copyGguf } from '../support/gguf-copy.ts';
import { LlamaCpp } from '../support/llama-cpp.ts';
import { distinctOfTiny, type Run, runDecoder, runTiny } from './tiny-ours.ts';
import {
  header,
  line,
  type Measured,
  median,
  ownSecondsOf,
  ratesOf,
  ratioOf,
  share,
  wasteful,
} from './tiny-report.ts';
import { runLlama, type TheirSetup } from './tiny-theirs.ts';
import { sharedPart, type Workload, workloads } from './tiny-workloads.ts';

const root = join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    model: { type: 'string', default: join(root, 'models/tiny.gguf') },
    repetitions: { type: 'string', default: '5' },
    /** The core that this process was put on; `none` where it could not be. */
    core: { type: 'string' },
  },
});
const goal = 0.5;
const least = 0.2;

/** Settings of llama.cpp by letter: its own, and others that make the attention of some models faster. */
const settings = {
  a: {},
  b: {
    flashAttention: false,
    experimentalKvCacheKeyType: 'F32',
    experimentalKvCacheValueType: 'F32',
  },
} as const;

const legend = `a: llama.cpp as it comes, b: without flash attention and with keys and values in f32; the faster is shown.
tiny(): the public model. Bare decoder: without sampling and text. Own clock: llama.cpp by its own counters, without
sampling and binding. Generation and what is read without reuse count the tokens that went through the model, a search
the tokens that were drawn, and prefill with reuse the tokens of the prompts.
`;

/** A file, as both sides read it. */
interface Subject {
  readonly path: string;
  readonly file: LlamaFile;
  readonly theirs: Omit<TheirSetup, 'options'>;
}

/** Starts itself again on one core. */
function startPinned(): number {
  const core = lastCore();
  const again = [...process.execArgv, ...process.argv.slice(1), '--core'];
  if (core !== undefined) {
    const command = ['-c', core, process.execPath, ...again, core];
    const { status, error } = spawnSync('taskset', command, { stdio: 'inherit' });
    if (error === undefined) return status ?? 1;
  }
  return spawnSync(process.execPath, [...again, 'none'], { stdio: 'inherit' }).status ?? 1;
}

/** The last core that this process may use: other programs tend to begin with the first. */
function lastCore(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const status = readFileSync('/proc/self/status', 'utf8');
  return /^Cpus_allowed_list:.*?(\d+)$/m.exec(status)?.[1];
}

/** Both sides take turns, so that what else the machine does falls on both. */
async function repeat({ path, file, theirs }: Subject, workload: Workload): Promise<Measured> {
  const tiny: Run[] = [];
  const decoder: Run[] = [];
  const variants = Object.entries(settings).map(([setting, options]) => ({
    ...{ setting, options },
    llama: [] as Run[],
  }));
  const distinct = await distinctOfTiny(path, workload);
  for (let repetition = 0; repetition < Number(values.repetitions); repetition++) {
    tiny.push({ ...(await runTiny(path, workload)), distinct });
    decoder.push(runDecoder(file, workload));
    for (const { options, llama } of variants) {
      llama.push(await runLlama({ ...theirs, options }, workload));
    }
  }
  const [best] = variants.toSorted(
    (one, other) => median(ratesOf(workload, other.llama)) - median(ratesOf(workload, one.llama)),
  );
  return { workload, tiny, decoder, llama: best?.llama ?? [], setting: best?.setting ?? '' };
}

async function measureAll(llama: LlamaCpp, path: string): Promise<readonly Measured[]> {
  const file = await readLlamaFile(path);
  const { vocabulary, config } = file;
  const tokenizer = tokenizerOf(vocabulary);
  const template = vocabulary.chatTemplate;
  const chat = chatOf({ tokenizer, template, model: basename(path) });
  const model = await llama.load(path);
  const theirs = { llama, model, contextSize: config.contextLength, end: vocabulary.eos };
  print(`\n${relative(root, path)}\n${header}\n`);
  const all: Measured[] = [];
  for (const workload of workloads(chat, config.contextLength)) {
    const measured = await repeat({ path, file, theirs }, workload);
    print(`${line(measured)}\n`);
    all.push(measured);
  }
  await model.dispose();
  return all;
}

function printNotes(all: readonly Measured[]): void {
  const named = (name: string) => all.filter(({ workload }) => workload.name === name);
  for (const { workload } of named('search, batch 8, reuse').slice(0, 1)) {
    const part = Math.round(100 * sharedPart(workload));
    print(`Prompts of the search share the first ${part} % of their tokens.\n`);
  }
  for (const name of ['generation, batch 1', 'generation, batch 8']) {
    const [ours, theirs] = [
      named(name).flatMap(({ tiny }) => tiny),
      named(name).flatMap(({ llama }) => llama),
    ];
    print(
      `${name}: in the model are ${share(ours, ownSecondsOf)} % of our time and ` +
        `${share(theirs, ownSecondsOf)} % of that of llama.cpp; the rest is sampling and overhead.\n`,
    );
  }
  const busy = share(
    all.flatMap(({ tiny, decoder, llama }) => [...tiny, ...decoder, ...llama]),
    ({ busySeconds }) => busySeconds,
  );
  print(`This process had ${busy} % of ${values.core === 'none' ? 'a core' : 'its core'}`);
  print(busy < 95 ? ': the machine was busy, and the figures are too low.\n' : '.\n');
}

/** Whether our own runner is fast enough, and computed nothing twice. */
function judge(all: readonly Measured[]): boolean {
  const ratios = all.map(ratioOf);
  const lowest = Math.min(...ratios);
  const good = ratios.filter((ratio) => ratio >= goal).length;
  const waste = all.flatMap(wasteful);
  print(`tiny() : llama.cpp: at least ${lowest.toFixed(2)} (least ${least}); `);
  print(`${good} of ${ratios.length} reach the goal of ${goal}.\n`);
  for (const { computed, distinct } of waste) {
    print(`WASTE: ${computed} tokens computed, where there are ${distinct} different ones.\n`);
  }
  if (waste.length === 0) print('Ours computed no token twice in any repetition.\n');
  return lowest >= least && waste.length === 0;
}

function print(text: string): void {
  process.stdout.write(text);
}

async function main(): Promise<number> {
  const llama = await LlamaCpp.open();
  const where = values.core === 'none' ? 'not pinned to a core' : `pinned to core ${values.core}`;
  print(`tokens/s of our own runner (Node ${process.version}) and ${llama.version}, ${where}; `);
  print(`medians of ${values.repetitions}, ± half the range.\n`);
  print(legend);
  const scratch = join(root, '.tmp/bench-tiny');
  mkdirSync(scratch, { recursive: true });
  const halves = join(scratch, 'f16.gguf');
  await copyGguf(values.model, halves, 'f16');
  const all: Measured[] = [];
  for (const path of [halves, values.model]) all.push(...(await measureAll(llama, path)));
  print('\n');
  printNotes(all);
  return judge(all) ? 0 : 1;
}

process.exitCode = values.core === undefined ? startPinned() : await main();
