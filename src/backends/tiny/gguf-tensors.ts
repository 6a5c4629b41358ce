import { open } from 'node:fs/promises';
import { dequantise, type Encoding, encodings } from './dequantise.ts';
import { cut, fault, type GgufHeader, type TensorEntry } from './gguf-header.ts';
import type { LlamaConfig, Tensor } from './llama-config.ts';

/** Larger models are for other backends: everything here runs in single precision on one core. */
const mostParameters = 100_000_000;

/** Reads the tensors of a Llama, and checks that they are complete and that there are no others. */
export async function readTensors(
  header: GgufHeader,
  config: LlamaConfig,
): Promise<ReadonlyMap<string, Tensor>> {
  const expected = shapesOf(config, header);
  for (const name of expected.keys()) {
    if (!header.tensors.some((tensor) => tensor.name === name)) {
      throw fault(header.path, `the tensor \`${name}\``, 'none');
    }
  }
  const parameters = header.tensors.reduce((sum, { shape }) => sum + product(shape), 0);
  if (parameters > mostParameters) {
    const [most, got] = [mostParameters, parameters].map((count) => Math.ceil(count / 1e6));
    throw fault(header.path, `a model of at most ${most} million parameters`, `${got} million`);
  }
  return read(
    header.tensors.map((entry) => planOf(entry, expected, header)),
    header,
  );
}

function product(shape: readonly number[]): number {
  return shape.reduce((count, length) => count * length, 1);
}

/** A tensor whose location has been checked. */
interface TensorPlan {
  readonly entry: TensorEntry;
  readonly encoding: Encoding;
  readonly bytes: number;
}

/** The shape of each tensor that a Llama has. */
function shapesOf(
  config: LlamaConfig,
  { tensors }: GgufHeader,
): ReadonlyMap<string, readonly number[]> {
  const { embeddingLength: width, feedForwardLength: hidden, vocabularySize } = config;
  const queryWidth = config.headCount * config.headDimension;
  const keyWidth = config.headCountKv * config.headDimension;
  const shapes = new Map<string, readonly number[]>([
    ['token_embd.weight', [width, vocabularySize]],
    ['output_norm.weight', [width]],
  ]);
  // Models with tied embeddings leave it out.
  if (tensors.some(({ name }) => name === 'output.weight')) {
    shapes.set('output.weight', [width, vocabularySize]);
  }
  for (let block = 0; block < config.blockCount; block++) {
    const add = (name: string, ...shape: number[]): void =>
      void shapes.set(`blk.${block}.${name}.weight`, shape);
    add('attn_norm', width);
    add('attn_q', width, queryWidth);
    add('attn_k', width, keyWidth);
    add('attn_v', width, keyWidth);
    add('attn_output', queryWidth, width);
    add('ffn_norm', width);
    add('ffn_gate', width, hidden);
    add('ffn_up', width, hidden);
    add('ffn_down', hidden, width);
  }
  return shapes;
}

function planOf(
  entry: TensorEntry,
  expected: ReadonlyMap<string, readonly number[]>,
  { path, fileBytes }: GgufHeader,
): TensorPlan {
  const { name, shape, typeNumber, start } = entry;
  const wanted = expected.get(name);
  if (wanted === undefined) throw fault(path, 'only the tensors of a plain Llama', `\`${name}\``);
  if (wanted.join() !== shape.join()) {
    throw fault(path, `\`${name}\` to be ${wanted.join(' × ')}`, shape.join(' × '));
  }
  const encoding = encodings.get(typeNumber);
  if (encoding === undefined) {
    const known = [...encodings.values()].map((each) => each.name).join(', ');
    throw fault(path, `tensors of the types ${known}`, `type ${typeNumber} in \`${name}\``);
  }
  if ((wanted[0] ?? 0) % encoding.blockLength !== 0) {
    const rows = `rows of whole blocks of ${encoding.blockLength} in \`${name}\``;
    throw fault(path, rows, `rows of ${wanted[0]}`);
  }
  const bytes = (product(wanted) / encoding.blockLength) * encoding.blockBytes;
  if (start + bytes > fileBytes) throw cut(path, `ends within \`${name}\``);
  return { entry, encoding, bytes };
}

async function read(
  plans: readonly TensorPlan[],
  { path, content }: GgufHeader,
): Promise<ReadonlyMap<string, Tensor>> {
  const file = content === undefined ? await open(path, 'r') : undefined;
  try {
    const tensors = new Map<string, Tensor>();
    for (const { entry, encoding, bytes } of plans) {
      // Deno does not read into a DataView.
      const buffer = new Uint8Array(bytes);
      const read = await file?.read(buffer, 0, bytes, entry.start);
      const bytesRead = read?.bytesRead ?? content?.copy(buffer, 0, entry.start) ?? 0;
      if (bytesRead < bytes) throw cut(path, `ends within \`${entry.name}\``);
      const data = dequantise(new DataView(buffer.buffer), encoding);
      tensors.set(entry.name, { shape: entry.shape, data });
    }
    return tensors;
  } finally {
    await file?.close();
  }
}
