import { describe, expect, test } from 'vitest';
import { distributionOf, drawToken, logprobsOf } from '../../../src/backends/llama/distribution.ts';
import { seededRandom } from '../../../src/base/random.ts';

/** What the package tells: the likeliest first, and the weight of all in single precision. */
function told(logits: readonly number[], count = logits.length) {
  const entries = [...logits.entries()].toSorted(([, one], [, other]) => other - one);
  const highest = Math.max(...logits);
  return {
    logits: new Map(entries.slice(0, count)),
    totalLogitWeight: Math.fround(
      logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0),
    ),
  };
}

/** By the definition: all weights in order, cut by top-k, then by top-p, then a place on their line. */
function drawnByHand(
  logits: readonly number[],
  { temperature, topK = logits.length, topP = 1 }: Parameters<typeof drawToken>[1],
  chance: number,
): number | undefined {
  const ranked = [...logits.entries()].toSorted(([a, one], [b, other]) => other - one || a - b);
  const likely = ranked.slice(0, topK).map(([token, logit]) => ({
    token,
    weight: Math.exp((logit - (ranked[0]?.[1] ?? 0)) / temperature),
  }));
  const all = likely.reduce((sum, { weight }) => sum + weight, 0);
  const kept: typeof likely = [];
  let mass = 0;
  for (const one of likely) {
    if (topP < 1 && kept.length > 0 && mass >= topP * all) break;
    kept.push(one);
    mass += one.weight;
  }
  let left = chance * mass;
  return kept.find(({ weight }) => {
    left -= weight;
    return left < 0;
  })?.token;
}

const settings = [
  { temperature: 1 },
  { temperature: 0.6 },
  { temperature: 1.7 },
  { temperature: 1, topK: 5 },
  { temperature: 1, topK: 40 },
  { temperature: 0.8, topP: 0.9 },
  { temperature: 1, topP: 0.3 },
  { temperature: 1.3, topP: 0.95, topK: 100 },
];

test.each(settings)('draws what the definition says, with %j', (drawing) => {
  const random = seededRandom(JSON.stringify(drawing));
  for (let round = 0; round < 20; round++) {
    const logits = Array.from({ length: 200 }, () => 8 * random.next());
    const whole = distributionOf(told(logits), 200);
    for (let draw = 0; draw < 25; draw++) {
      const chance = random.next();
      expect(drawToken(whole, drawing, chance)).toBe(drawnByHand(logits, drawing, chance));
    }
  }
});

test.each(settings)('is never wrong about what it was not told, with %j', (drawing) => {
  const random = seededRandom(JSON.stringify(drawing));
  let unknown = 0;
  for (let round = 0; round < 40; round++) {
    // Some distributions have a long tail, others hardly any.
    const spread = 4 + 20 * random.next();
    const logits = Array.from({ length: 200 }, () => spread * random.next());
    const part = distributionOf(told(logits, 30), 200);
    for (let draw = 0; draw < 25; draw++) {
      const chance = random.next();
      const token = drawToken(part, drawing, chance);
      if (token === undefined) unknown++;
      else expect(token).toBe(drawnByHand(logits, drawing, chance));
    }
  }
  // Top-k within what is told needs no more.
  if (drawing.topK === 5) expect(unknown).toBe(0);
  else expect(unknown).toBeLessThan(drawing.temperature > 1 ? 1000 : 800);
});

describe('a distribution of which the half is told', () => {
  // Weights 4, 2, 1, 1 of a total of 8; the last two are not told.
  const part = distributionOf(told([Math.log(4), Math.log(2), 0, 0], 2), 4);

  test('decides up to three quarters, and no further', () => {
    expect(drawToken(part, { temperature: 1 }, 0.49)).toBe(0);
    expect(drawToken(part, { temperature: 1 }, 0.51)).toBe(1);
    expect(drawToken(part, { temperature: 1 }, 0.74)).toBe(1);
    expect(drawToken(part, { temperature: 1 }, 0.76)).toBeUndefined();
  });

  test('takes the likeliest token where there is no choice', () => {
    expect(drawToken(part, { temperature: 0 }, 0.99)).toBe(0);
    expect(drawToken(part, { temperature: 3, topK: 1 }, 0.99)).toBe(0);
  });

  test('needs the rest for a nucleus that reaches into it', () => {
    expect(drawToken(part, { temperature: 1, topP: 0.7 }, 0.99)).toBe(1);
    expect(drawToken(part, { temperature: 1, topP: 0.8 }, 0)).toBeUndefined();
  });

  test('tells the logarithms of its probabilities', () => {
    const logprobs = logprobsOf(part, (token) => `t${token}`);
    const [half, quarter] = [Math.log(4 / 8), Math.log(2 / 8)];
    expect(logprobs.of(1)).toEqual({ token: 't1', logprob: expect.closeTo(quarter, 6) as number });
    expect(logprobs.of(3)).toBeUndefined();
    expect(logprobs.top(3)).toEqual([
      { token: 't0', logprob: expect.closeTo(half, 6) as number },
      { token: 't1', logprob: expect.closeTo(quarter, 6) as number },
    ]);
  });
});

test('puts equal tokens in the order of their numbers', () => {
  const logits = new Map([
    [7, 1],
    [3, 2],
    [5, 1],
    [4, 2],
  ]);
  expect(distributionOf({ logits, totalLogitWeight: 2.74 }, 4).tokens).toEqual([3, 4, 5, 7]);
});

test('says so where a model gives no numbers', () => {
  const logits = new Map([[0, Number.NaN]]);
  expect(() => distributionOf({ logits }, 1)).toThrow(
    'The model gives no finite logits: its file may be damaged.',
  );
});
