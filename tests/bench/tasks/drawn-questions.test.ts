import { describe, expect, test } from 'vitest';
import type { BenchInstance } from '../../../src/bench/task.ts';
import { taskNamed } from '../../../src/bench/tasks/tasks.ts';
import { plainContext } from '../../../src/testing/index.ts';

async function questionOf({ environment }: BenchInstance): Promise<string> {
  return (await environment.reset(plainContext())).state.question;
}

async function isRight({ oracle }: BenchInstance, answer: string): Promise<boolean | undefined> {
  const verdict = await oracle?.label({ question: '', steps: [], answer }, plainContext());
  return verdict?.correct;
}

interface Asked {
  readonly split: string;
  readonly seed?: number | string;
  readonly limit?: number;
}

async function drawn(name: string, { split, seed = 1, limit = 200 }: Asked) {
  return (await taskNamed(name)).instances({ split, seed, limit });
}

describe.each(['word-problems', 'logic-chains'])('%s', (name) => {
  test('are the same for the same seed, others for another, and begin alike for a lower limit', async () => {
    const texts = async (seed: number | string, limit = 40) =>
      Promise.all((await drawn(name, { split: 'mixed', seed, limit })).map(questionOf));
    expect(await texts('a')).toEqual(await texts('a'));
    expect(await texts('a', 5)).toEqual((await texts('a')).slice(0, 5));
    const others = new Set(await texts('b'));
    expect((await texts('a')).filter((text) => others.has(text))).toEqual([]);
  });

  test('have different ids and questions, also between splits', async () => {
    const all = (
      await Promise.all(['short', 'mixed', 'long'].map((split) => drawn(name, { split })))
    ).flat();
    expect(new Set(await Promise.all(all.map(questionOf))).size).toBe(600);
    expect(new Set(all.slice(0, 200).map(({ id }) => id)).size).toBe(200);
  });

  test('take nothing behind their name', async () => {
    await expect(taskNamed(`${name}:x.jsonl`)).rejects.toThrow(
      `The task \`${name}\` takes nothing behind its name, got \`"x.jsonl"\`.`,
    );
  });
});

/** What sentences of stories do to a number; others do nothing. Written from the texts, without their templates. */
const doings: readonly (readonly [
  pattern: RegExp,
  act: (now: number, n: number, m: number) => number,
  steps: number,
])[] = [
  [
    /(?:has|are|written|holds) (\d+) (?:stamps in|eggs in the m|pages of|litres of w)/,
    (_now, n) => n,
    0,
  ],
  [/(\d+) (?:packs|boxes|chapters|barrels) of (\d+)/, (now, n, m) => now + n * m, 2],
  [/(\d+) more/, (now, n) => now + n, 1],
  [/(?:gives|sells|uses|burns|strikes out|garden with) (\d+)/, (now, n) => now - n, 1],
  [/^(\d+) (?:stamps get wet|litres leak)/, (now, n) => now - n, 1],
  [/(\d+) times as many/, (now, n) => now * n, 1],
  [/(\d+) equal/, (now, n) => now / n, 1],
];

/** The answer and how many operations it takes, sentence by sentence. */
function workedOut(text: string) {
  let [now, steps] = [Number.NaN, 0];
  for (const sentence of text.split(/(?<=[.?]) /)) {
    const doing = doings.find(([pattern]) => pattern.test(sentence));
    if (doing === undefined) continue;
    const [, n, m] = (doing[0].exec(sentence) ?? []).map(Number);
    now = doing[1](now, n ?? 0, m ?? 0);
    steps += doing[2];
    expect(Number.isInteger(now) && now > 0, `${sentence} in: ${text}`).toBe(true);
  }
  return { now, steps };
}

test.each([
  ['short', 2, 3],
  ['mixed', 2, 8],
  ['long', 6, 8],
])(
  'word problems, %s: the answer is what the sentences make, in %i to %i steps',
  async (split, least, most) => {
    for (const instance of await drawn('word-problems', { split })) {
      const text = await questionOf(instance);
      const { now, steps } = workedOut(text);
      expect(await isRight(instance, String(now)), text).toBe(true);
      expect(await isRight(instance, String(now + 1)), text).toBe(false);
      expect(steps).toBeGreaterThanOrEqual(least);
      expect(steps).toBeLessThanOrEqual(most);
      expect(text).not.toMatch(/WHO|OTHER|undefined|\b[KMN]\b/);
    }
  },
);

/** All that follows for somebody, with how many rules it takes; and what is ruled out. */
function closure(text: string, someone: string) {
  const kinds = new Map<string, number>();
  const start = new RegExp(`\\b${someone} is a (\\w+)\\.`).exec(text)?.[1] ?? '';
  kinds.set(start, 0);
  for (const [kind, depth] of kinds) {
    for (const [, next = ''] of text.matchAll(new RegExp(`Every ${kind} is a (\\w+)`, 'g'))) {
      if (!kinds.has(next)) kinds.set(next, depth + 1);
    }
  }
  const ruledOut = new Map<string, number>();
  for (const [kind, depth] of kinds) {
    for (const [, never = ''] of text.matchAll(new RegExp(`No ${kind} is a (\\w+)`, 'g'))) {
      ruledOut.set(never, depth + 1);
    }
  }
  return { kinds, ruledOut };
}

/** The answer that follows, the answers that do not, and how many rules it takes. */
function followed(text: string) {
  const [, someone = '', asked = ''] = /Is (\w+) a (\w+)\?/.exec(text) ?? [];
  const [, who = '', ...options] =
    /Which of these is (\w+): (\w+), (\w+) or (\w+)\?/.exec(text) ?? [];
  const { kinds, ruledOut } = closure(text, someone || who);
  // Nothing is both.
  expect([...kinds.keys()].filter((kind) => ruledOut.has(kind))).toEqual([]);
  if (someone === '') {
    const [answer = '', ...more] = options.filter((kind) => kinds.has(kind));
    expect(more).toEqual([]);
    const wrong = options.filter((kind) => kind !== answer);
    return { answer, wrong, depth: kinds.get(answer) };
  }
  const answer = kinds.has(asked) ? 'yes' : 'no';
  const wrong = [answer === 'yes' ? 'no' : 'yes'];
  return { answer, wrong, depth: kinds.get(asked) ?? ruledOut.get(asked) };
}

test.each([
  ['short', 2, 3],
  ['mixed', 2, 8],
  ['long', 6, 8],
])(
  'logic chains, %s: the answer is what follows, from %i to %i rules',
  async (split, least, most) => {
    const answers: string[] = [];
    for (const instance of await drawn('logic-chains', { split })) {
      const text = await questionOf(instance);
      const { answer, wrong, depth } = followed(text);
      answers.push(answer);
      expect(await isRight(instance, answer), text).toBe(true);
      for (const other of wrong) expect(await isRight(instance, other), text).toBe(false);
      expect(depth, text).toBeGreaterThanOrEqual(least);
      expect(depth, text).toBeLessThanOrEqual(most);
    }
    // Nobody does well by always saying the same.
    for (const word of ['yes', 'no']) {
      expect(answers.filter((answer) => answer === word).length).toBeGreaterThan(25);
      expect(answers.filter((answer) => answer === word).length).toBeLessThan(75);
    }
  },
);

test('the number of rules does not tell of whom is asked', async () => {
  for (const instance of await drawn('logic-chains', { split: 'mixed', seed: 2, limit: 50 })) {
    const text = await questionOf(instance);
    const asked = /Is \w+ a (\w+)\?/.exec(text)?.[1];
    if (asked === undefined) continue;
    const rules = [...text.matchAll(new RegExp(`(Every|No) \\w+ is a ${asked}\\.`, 'g'))];
    expect(rules.map(([, quantifier]) => quantifier).toSorted()).toEqual(['Every', 'No']);
  }
});
