import { expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { auditDataset } from '../../src/data/audit/audit-dataset.ts';
import { datasetFormats } from '../../src/data/catalogue.ts';
import type { RowFormat } from '../../src/data/formats/format.ts';
import { mapRow } from '../../src/data/formats/map-row.ts';
import type { RowKind, RowRule, TrainingRow } from '../../src/data/rows.ts';
import {
  asks,
  preference,
  prompt,
  provenance,
  rollout,
  says,
  sft,
  stepwise,
  unpaired,
} from './formats-rows.ts';
import { textOf as sentence } from './good-sets.ts';
import { out, read, text, useFolders, write } from './writing.ts';

useFolders();

/** One sentence of each four problems is the same but for its last word. */
function alike(name: string, place: number, words: number): string {
  return `${sentence(name, place >> 2, words)} ${['one', 'two', 'three', 'four'][place & 3]}`;
}

const rowsOf: { readonly [Kind in RowKind]: (place: number) => object } = {
  preference: (place) => ({
    chosen: [says(alike('good', place, 30))],
    rejected: [says(alike('bad', place, 30))],
  }),
  prompt: () => ({}),
  rollout: (place) => ({ completion: [says(alike('said', place, 30))] }),
  sft: (place) => ({ completion: [says(alike('said', place, 30))] }),
  stepwise: (place) => {
    const steps = ['first', 'second', 'third'].map((name) => ({
      text: alike(name, place, 20),
      value: 1,
      label: true,
      rating: 1 as const,
    }));
    return { steps, alternatives: steps.map((step) => [step]), taken: [0, 0, 0] };
  },
  unpaired: (place) => ({ completion: [says(alike('said', place, 30))] }),
};
const makers = { preference, prompt, rollout, sft, stepwise, unpaired };

function ruleOf(kind: RowKind): RowRule {
  const make: (changes: object) => TrainingRow = makers[kind];
  return {
    name: 'alike',
    kind,
    *rows(trees) {
      for (const { problem } of trees) {
        const place = Number(problem);
        yield make({
          prompt: [asks(`Tell me: ${alike('question', place, 24)}`)],
          provenance: { ...provenance, problem },
          ...rowsOf[kind](place),
        });
      }
    },
  };
}

const ids = Array.from({ length: 400 }, (_, place) => String(place));

const own = mapRow({
  name: 'own',
  kind: 'sft',
  columns: { asked: 'string', said: 'string' },
  map: ({ prompt: [asked], completion: [said] }) => ({
    asked: asked?.content ?? '',
    said: said?.content ?? '',
  }),
});

const forms: readonly RowFormat[] = datasetFormats.flatMap((format) =>
  Object.values(format.create().forms),
);

async function written(
  form: RowFormat,
  nearDuplicates: 'drop' | 'keep',
  splits: Readonly<Record<string, number>> = { train: 1 },
) {
  const format = { name: 'all', forms: { [form.kind]: form } };
  const [config] = (
    await write(ids, {
      configs: [{ name: 'alike', rule: ruleOf(form.kind), format }],
      file: form.files?.[0] ?? 'jsonl',
      splits,
      nearDuplicates,
    })
  ).configs;
  const { findings } = await auditDataset(out);
  return { rows: config?.rows, findings };
}

const isNear = ({ code }: { readonly code: string }) => code === 'near-duplicate';

test.each(forms.filter(({ kind }) => kind !== 'rollout').map((form) => [form.name, form] as const))(
  '%s has no near-duplicates left once they are dropped, and no other row is missing',
  async (_name, form) => {
    const kept = await written(form, 'keep');
    expect(kept).toMatchObject({ rows: 400 });
    const near = kept.findings.find(isNear)?.count ?? 0;
    expect(near).toBeGreaterThan(200);
    const dropped = await written(form, 'drop');
    expect(dropped.findings.filter(isNear)).toEqual([]);
    expect(dropped.rows).toBe(400 - near);
    const parted = await written(form, 'drop', { train: 0.8, test: 0.2 });
    expect(parted.findings.filter(isNear)).toEqual([]);
  },
);

test.each(forms.filter(({ kind }) => kind === 'rollout').map((form) => [form.name, form] as const))(
  '%s, of groups that stay whole, loses none',
  async (_name, form) => expect(await written(form, 'drop')).toMatchObject({ rows: 400 }),
);

test('a form of one’s own, which no audit knows, loses its near-duplicates as well', async () => {
  const { rows } = await written(own.forms.sft, 'drop');
  expect(rows).toBeLessThan(110);
});

const x =
  'the lamp stands near the river while old clocks tick and seven birds watch over quiet hills beyond the town';
const y =
  'people sell bread and cheese and honey in every market until dusk brings rain and fog and wind and snow';

test.each<readonly [string, TrainingRow, TrainingRow]>([
  [
    'reversed',
    preference({ chosen: [says(x)], rejected: [says(y)] }),
    preference({ chosen: [says(`${y}.`)], rejected: [says(x)] }),
  ],
  [
    'of the other label',
    unpaired({ completion: [says(x)], label: true }),
    unpaired({ completion: [says(`${x}.`)], label: false }),
  ],
  [
    'with another answer',
    prompt({ prompt: [asks(x)], answer: 'red' }),
    prompt({ prompt: [asks(`${x}.`)], answer: 'blue' }),
  ],
])('a row %s is no near-duplicate, whatever full stop it has', async (_name, first, second) => {
  const rule: RowRule = { name: 'two', kind: first.kind, rows: () => [first, second] };
  const configs = [{ name: 'two', rule, format: text }];
  const report = await write(['a'], { configs, nearDuplicates: 'drop' });

  expect(report.configs[0]).toMatchObject({ rows: 2, refused: [] });
});

test.each([-0, Number.NaN, Number.POSITIVE_INFINITY])(
  'a number of %d is written, or refused, as it is where near-duplicates are kept',
  async (score) => {
    const format = mapRow({
      name: 'scored',
      kind: 'sft',
      columns: { said: 'string', score: 'float' },
      map: (row) => ({ said: row.completion[0]?.content ?? '', score: row.score }),
    });
    const rule: RowRule = { name: 'one', kind: 'sft', rows: () => [sft({ score })] };
    const outcome = (nearDuplicates: 'drop' | 'keep') =>
      write(['a'], { configs: [{ rule, format }], nearDuplicates }).then(
        () => read('one/train-00000-of-00001.jsonl'),
        String,
      );
    const kept = await outcome('keep');
    expect(kept).toMatch(Number.isFinite(score) ? /"score":-0\.0/ : /`(NaN|Infinity)`/);
    expect(await outcome('drop')).toBe(kept);
  },
);

/** Texts of few phrases, some changed in one word: what is common, and so ignored, depends on the rows that are left. */
function changedTexts(seed: number): readonly string[] {
  const random = seededRandom(seed);
  const word = (place: number) => `${'bcdfglmnprst'[place % 12]}${'aeiou'[place % 5]}${place}x`;
  const phrases = Array.from({ length: 40 }, () =>
    Array.from({ length: 9 }, () => word(random.integer(400))),
  );
  const skewed = (most: number) => Math.floor(most * random.next() ** 2);
  const bases = Array.from({ length: 200 }, () =>
    Array.from({ length: 4 }, () => phrases[skewed(40)] ?? []).flat(),
  );
  return Array.from({ length: 900 }, () => {
    const words = [...(bases[skewed(200)] ?? [])];
    for (let changes = random.integer(3); changes > 0; changes--) {
      words[random.integer(words.length)] = word(random.integer(400));
    }
    return words.join(' ');
  });
}

test.each(Array.from({ length: 12 }, (_, seed) => seed))(
  'what is left once near-duplicates are dropped has none, in any order of splits: rows %i',
  async (seed) => {
    const texts = changedTexts(seed);
    const rule: RowRule = {
      name: 'changed',
      kind: 'sft',
      *rows(trees) {
        for (const { problem } of trees) {
          const completion = [says(texts[Number(problem)] ?? '')];
          yield sft({ completion, provenance: { ...provenance, problem } });
        }
      },
    };
    const report = await write(
      texts.map((_, place) => String(place)),
      {
        configs: [{ name: 'changed', rule, format: text }],
        nearDuplicates: 'drop',
        splits: { train: 0.6, test: 0.4 },
      },
    );
    expect(report.rows).toBeGreaterThan(100);
    expect(report.rows).toBeLessThan(800);
    const { findings } = await auditDataset(out);
    expect(findings.filter(isNear)).toEqual([]);
  },
);
