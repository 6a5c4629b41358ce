/**
 * `npm run verify:tiny [-- --model FILE]`: our own runner against llama.cpp on the same files. All logits after
 * each position of conversations, and of text that wanders over the vocabulary; and the tokens of many texts.
 */
import { mkdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from 'espalier';
import { chatOf } from '../../src/backends/in-process/chat.ts';
import { Decoder } from '../../src/backends/tiny/decoder.ts';
import { readLlamaFile } from '../../src/backends/tiny/gguf.ts';
import { tokenizerOf } from '../../src/backends/tiny/tokenizer.ts';
import { copyGguf } from '../support/gguf-copy.ts';
import { logitDistance } from '../support/llama-comparison.ts';
import { type LlamaContextOptions, LlamaCpp, type LlamaModel } from '../support/llama-cpp.ts';
import { conversations, texts } from './sample-texts.ts';

const root = join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: { model: { type: 'string', default: join(root, 'models/tiny.gguf') } },
});
const scratch = join(root, '.tmp/verify-tiny');
const file = await readLlamaFile(values.model);
const { vocabulary, config } = file;
const tokenizer = tokenizerOf(vocabulary);
const chat = chatOf({
  tokenizer,
  template: vocabulary.chatTemplate,
  model: basename(values.model),
});

interface Comparison {
  readonly name: string;
  readonly path: string;
  readonly context: Partial<LlamaContextOptions>;
  readonly bound: number;
}

const inSingles = {
  flashAttention: false,
  experimentalKvCacheKeyType: 'F32',
  experimentalKvCacheValueType: 'F32',
} as const;

async function comparisons(): Promise<readonly Comparison[]> {
  mkdirSync(scratch, { recursive: true });
  const singles = join(scratch, 'f32.gguf');
  const halves = join(scratch, 'f16.gguf');
  await copyGguf(values.model, singles, 'f32');
  await copyGguf(values.model, halves, 'f16');
  return [
    // Nothing is rounded to less than single precision on either side.
    { name: 'all in f32', path: singles, context: inSingles, bound: 1e-4 },
    // llama.cpp rounds what goes into a product, and keys and values, to half precision.
    { name: 'f16 copy', path: halves, context: {}, bound: 1e-2 },
    // llama.cpp rounds what goes into a product to 8 bits.
    { name: 'the file itself', path: values.model, context: {}, bound: 5e-2 },
  ];
}

/** Conversations with their answers, and random tokens as far as the context goes. */
function sequences(): readonly (readonly number[])[] {
  // llama.cpp's binding keeps one place free.
  const most = config.contextLength - 1;
  const random = seededRandom('tokens');
  const lengths = [most, 128, 128, 64, 64].map((length) => Math.min(length, most));
  return [
    ...conversations(12).map((messages) => chat(messages).slice(0, most)),
    ...lengths.map((length) => Array.from({ length }, () => random.integer(config.vocabularySize))),
  ];
}

async function ourLogits(path: string): Promise<readonly Float32Array[]> {
  const decoder = new Decoder(await readLlamaFile(path), 2 ** 28);
  return sequences().flatMap((tokens) => {
    const items = tokens.map((_, place) => ({
      prefix: decoder.root,
      tokens: tokens.slice(0, place + 1),
      wantLogits: true,
    }));
    return decoder.decode(items).map(({ logits }) => logits ?? new Float32Array());
  });
}

async function theirLogits(
  model: LlamaModel,
  options: Partial<LlamaContextOptions>,
): Promise<readonly Float32Array[]> {
  const context = await model.createContext({
    ...{ sequences: 1, contextSize: config.contextLength, threads: 1, performanceTracking: false },
    ...options,
  });
  const sequence = context.getSequence();
  const all: Float32Array[] = [];
  for (const tokens of sequences()) {
    await sequence.clearHistory();
    const found = await sequence.controlledEvaluate(
      tokens.map((token) => [token, { generateNext: { logits: true } }]),
    );
    for (const output of found) {
      const logits = new Float32Array(config.vocabularySize).fill(Number.NaN);
      for (const [token, logit] of output?.next.logits ?? []) logits[token] = logit;
      all.push(logits);
    }
  }
  await context.dispose();
  return all;
}

async function compareLogits(llama: LlamaCpp): Promise<number> {
  let failures = 0;
  print('\nlogits          positions  worst |Δ|/range      mean   bound  other argmax\n');
  for (const { name, path, context, bound } of await comparisons()) {
    const model = await llama.load(path);
    const found = logitDistance(await ourLogits(path), await theirLogits(model, context));
    await model.dispose();
    const isKept = found.positions >= 200 && found.worst <= bound;
    const cells = [
      name.padEnd(16),
      String(found.positions).padStart(9),
      found.worst.toExponential(2).padStart(17),
      found.mean.toExponential(2).padStart(10),
      bound.toExponential(0).padStart(8),
      String(found.argmaxes).padStart(14),
      isKept ? '' : '  NOT KEPT',
    ];
    print(`${cells.join('')}\n`);
    if (!isKept) failures++;
  }
  return failures;
}

/** With names of special tokens as such, and as text. */
async function compareTokens(llama: LlamaCpp): Promise<number> {
  const model = await llama.load(values.model);
  const guard = '\ufdef';
  const all = texts();
  let different = 0;
  for (const text of all) {
    const guarded = text.replaceAll('<', `<${guard}`);
    for (const [special, ours] of [
      [true, tokenizer.encode(text)],
      [false, tokenizer.encode(guarded, guard)],
    ] as const) {
      const theirs = withStart(model.tokenize(text, special));
      if (ours.join() === theirs.join()) continue;
      different++;
      const how = special ? '' : ' as text';
      print(`DIFFERENT ${JSON.stringify(text)}${how}\n  ours   ${ours.join(' ')}\n`);
      print(`  theirs ${theirs.join(' ')}\n`);
    }
  }
  await model.dispose();
  print(`tokens: ${all.length} texts, with special tokens and as text: ${different} differ\n`);
  return different + (all.length < 200 ? 1 : 0);
}

/** The binding leaves the first token to its caller. */
function withStart(tokens: readonly number[]): readonly number[] {
  const { addBos, bos } = vocabulary;
  return addBos && bos !== undefined && tokens[0] !== bos ? [bos, ...tokens] : tokens;
}

function print(text: string): void {
  process.stdout.write(text);
}

const llama = await LlamaCpp.open();
print(`${relative(root, values.model)} with ${llama.version}\n`);
const failures = (await compareTokens(llama)) + (await compareLogits(llama));
if (failures > 0) process.exitCode = 1;
