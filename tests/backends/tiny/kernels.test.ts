import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Arena } from '../../../src/backends/tiny/kernels/arena.ts';
import { kernelsOn } from '../../../src/backends/tiny/kernels/kernels.ts';
import { seededRandom } from '../../../src/base/random.ts';

const arena = new Arena();
const kernels = kernelsOn(arena);

test('the committed bytes are what the sources compile to', async () => {
  const root = join(import.meta.dirname, '../../..');
  // A script, and not part of the types.
  const { compileKernels } = (await import(join(root, 'scripts/build-kernels.js'))) as {
    readonly compileKernels: () => Promise<string>;
  };
  const path = join(root, 'src/backends/tiny/kernels/kernels.generated.ts');
  expect(await compileKernels()).toBe(readFileSync(path, 'utf8'));
});

describe('matmul', () => {
  test.each([
    { rows: 1, columns: 1, depth: 4 },
    { rows: 1, columns: 17, depth: 12 },
    { rows: 2, columns: 4, depth: 8 },
    { rows: 3, columns: 7, depth: 20 },
    { rows: 5, columns: 11, depth: 36 },
    { rows: 8, columns: 16, depth: 64 },
  ])('$rows × $columns over $depth', ({ rows, columns, depth }) => {
    const [x, w] = [numbers(rows * depth), numbers(columns * depth)];
    const out = arena.allocate(rows * columns + 1);
    arena.floats[out / 4 + rows * columns] = 77;
    kernels.matmul(out, arena.store(x), arena.store(w), rows, columns, depth);

    const wanted: number[] = [];
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        wanted.push(laneDot(x.subarray(row * depth), w.subarray(column * depth), depth));
      }
    }
    // Equal to the last bit: the order of the sum is part of what is promised.
    expect([...read(out, rows * columns)]).toEqual(wanted);
    expect(arena.floats[out / 4 + rows * columns]).toBe(77);
  });
});

test('add', () => {
  const x = arena.store(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
  kernels.add(x, arena.store(Float32Array.of(10, 20, 30, 40, 50, 60, 70, 80)), 4);
  expect([...read(x, 8)]).toEqual([11, 22, 33, 44, 5, 6, 7, 8]);
});

test('rmsNorm: mean squares of 4 and 25', () => {
  const x = arena.store(Float32Array.of(2, -2, 2, -2, 1, 7, -5, 5));
  const weight = arena.store(Float32Array.of(1, 2, 3, 4));
  const out = arena.allocate(8);
  kernels.rmsNorm(out, x, weight, 2, 4, 0);
  expectClose(read(out, 8), [1, -2, 3, -4, 0.2, 2.8, -3, 4], 1e-6);
  kernels.rmsNorm(out, x, weight, 1, 4, 12);
  expectClose(read(out, 4), [0.5, -1, 1.5, -2], 1e-6);
});

test('rotate turns neighbours: a quarter and a half', () => {
  const table = arena.store(Float32Array.of(0, 0, -1, -1, -1, 1, 0, 0));
  const x = arena.store(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
  kernels.rotate(x, 2, 4, table);
  expect([...read(x, 8)].map((value) => value + 0)).toEqual([-2, 1, -3, -4, -6, 5, -7, -8]);
});

test('swiglu, from the middle to both ends', () => {
  const inputs = Float32Array.from({ length: 64 }, (_, index) => (index - 32) * 3.1);
  const gate = arena.store(inputs);
  kernels.swiglu(gate, arena.store(inputs.map(() => 2)), 64);
  const wanted = inputs.map((x) => (2 * x) / (1 + Math.exp(-x)));
  for (const [index, value] of read(gate, 64).entries()) {
    expect(Math.abs(value - (wanted[index] ?? 0))).toBeLessThanOrEqual(
      3e-7 * Math.abs(wanted[index] ?? 0) + 1e-35,
    );
  }
});

describe('attend', () => {
  test('one token: its value', () => {
    const values = numbers(8);
    const found = attend({
      heads: 2,
      headsKv: 2,
      queries: numbers(8),
      slots: [[numbers(8), values]],
    });
    expectClose(found, values, 1e-7);
  });

  test('scores of ln 3 · √4 and 0: three parts to one', () => {
    const slots: readonly Slot[] = [
      [Float32Array.of(2 * Math.log(3), 0, 0, 0), Float32Array.of(1, 2, 3, 4)],
      [Float32Array.of(0, 1, 1, 1), Float32Array.of(5, 6, 7, 8)],
    ];
    const found = attend({ heads: 1, headsKv: 1, queries: Float32Array.of(1, 0, 0, 0), slots });
    expectClose(found, [2, 3, 4, 5], 1e-6);
  });

  test.each([3, 4, 5, 8, 13])('%i tokens, heads that share keys', (length) => {
    const slots = Array.from({ length }, (): Slot => [numbers(16), numbers(16)]);
    const queries = numbers(48);
    const found = attend({ heads: 6, headsKv: 2, queries, slots });
    for (let head = 0; head < 6; head++) {
      const shared = Math.floor(head / 3) * 8;
      const powers = slots.map(([key]) => {
        let score = 0;
        for (let d = 0; d < 8; d++) score += (queries[head * 8 + d] ?? 0) * (key[shared + d] ?? 0);
        return Math.exp(score / Math.sqrt(8));
      });
      const total = powers.reduce((sum, power) => sum + power, 0);
      const wanted = Array.from({ length: 8 }, (_, d) =>
        slots.reduce(
          (sum, [, value], past) => sum + ((powers[past] ?? 0) / total) * (value[shared + d] ?? 0),
          0,
        ),
      );
      expectClose(found.subarray(head * 8, head * 8 + 8), wanted, 2e-6);
    }
  });

  test('scores far apart', () => {
    const slots = [-1e4, 0, 1e4].map(
      (key, index): Slot => [Float32Array.of(key, 0, 0, 0), new Float32Array(4).fill(index)],
    );
    const found = attend({ heads: 1, headsKv: 1, queries: Float32Array.of(1, 0, 0, 0), slots });
    expect([...found]).toEqual([2, 2, 2, 2]);
  });
});

test('an arena keeps what it holds as it grows', () => {
  const growing = new Arena();
  const first = growing.store(Float32Array.of(1, 2, 3));
  const second = growing.allocate(3_000_000);
  expect([...growing.floats.subarray(first / 4, first / 4 + 3)]).toEqual([1, 2, 3]);
  expect(growing.floats.length).toBeGreaterThanOrEqual(second / 4 + 3_000_000);
  expect([first % 64, second % 64]).toEqual([0, 0]);
  expect(() => growing.allocate(2 ** 30)).toThrow(
    'Expected the model and its cache to fit into memory, got no room for 4108 MiB.',
  );
});

type Slot = readonly [keys: Float32Array, values: Float32Array];

interface Attention {
  readonly heads: number;
  readonly headsKv: number;
  readonly queries: Float32Array;
  readonly slots: readonly Slot[];
}

/** Slots lie in reverse order, 20 bytes from their addresses. */
function attend({ heads, headsKv, queries, slots }: Attention): Float32Array {
  const addresses = slots
    .toReversed()
    .map(([keys, values]) => arena.store(Float32Array.of(0, 0, 0, 0, 0, ...keys, ...values)))
    .reverse();
  const path = arena.allocate(slots.length);
  arena.words.set(addresses, path / 4);
  const [out, scores] = [
    arena.allocate(queries.length),
    arena.allocate(heads * (slots.length + 3)),
  ];
  const width = queries.length / heads;
  kernels.attend(out, arena.store(queries), heads, headsKv, width, path, slots.length, 20, scores);
  return read(out, queries.length);
}

const random = seededRandom('kernels');

function numbers(count: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: count }, () => random.next() * 2 - 1);
}

function read(address: number, count: number): Float32Array {
  return arena.floats.slice(address / 4, address / 4 + count);
}

/** The promised order: four lanes, then neighbours, then both pairs, all in single precision. */
function laneDot(x: Float32Array, w: Float32Array, depth: number): number {
  const lanes = [0, 0, 0, 0];
  for (let k = 0; k < depth; k++) {
    const product = Math.fround((x[k] ?? 0) * (w[k] ?? 0));
    lanes[k % 4] = Math.fround((lanes[k % 4] ?? 0) + product);
  }
  const [a = 0, b = 0, c = 0, d = 0] = lanes;
  return Math.fround(Math.fround(a + b) + Math.fround(c + d));
}

function expectClose(found: ArrayLike<number>, wanted: ArrayLike<number>, tolerance: number): void {
  expect(found.length).toBe(wanted.length);
  for (let index = 0; index < wanted.length; index++) {
    expect(Math.abs((found[index] ?? 0) - (wanted[index] ?? 0))).toBeLessThanOrEqual(tolerance);
  }
}
