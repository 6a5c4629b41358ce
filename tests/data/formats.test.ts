import { describe, expect, test } from 'vitest';
import { datasetFormats } from '../../src/data/catalogue.ts';
import type { DatasetFormat, RowFormat } from '../../src/data/formats/format.ts';
import { readingFor } from '../../src/data/formats/recognise.ts';
import type { RowKind } from '../../src/data/rows.ts';
import {
  bare,
  origin,
  preference,
  prompt,
  provenance,
  rollout,
  sft,
  stepwise,
  unpaired,
  writtenBy,
} from './formats-rows.ts';

function formIn(format: DatasetFormat, kind: RowKind): RowFormat {
  const form: RowFormat | undefined = format.forms[kind];
  if (form === undefined) throw new Error(`${format.name} has no form for ${kind}.`);
  return form;
}

describe('all formats', () => {
  const rows = { preference, prompt, rollout, sft, stepwise, unpaired };
  const forms = datasetFormats.flatMap((entry) =>
    (Object.keys(entry.create().forms) as RowKind[]).map((kind) => ({ ...entry, kind })),
  );

  test('stand in the order of their names, with what they are for', () => {
    const names = datasetFormats.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(new Set(names).size).toBe(names.length);
    expect(datasetFormats.filter(({ title }) => title === undefined)).toEqual([]);
  });

  test.each(forms)('are named and write their columns: $name $kind', ({ name, kind, create }) => {
    for (const options of [{}, bare]) {
      const form = formIn(create(options), kind);
      expect([form.name, form.kind]).toEqual([`${name}-${kind}`, kind]);
      const written = writtenBy(form, rows[kind]());
      const lacking = Object.entries(form.columns)
        .filter(([, type]) => !(typeof type === 'object' && 'optional' in type))
        .filter(([column]) => written[column] === undefined);
      expect(lacking).toEqual([]);
      expect(Object.keys(written).filter((column) => !(column in form.columns))).toEqual([]);
    }
  });

  /** What trainers read of these rows is what they read of others: the name cannot be told. */
  const taken: Readonly<Record<string, string>> = {
    'openai-sft': 'trl-conversational-sft',
    'trl-reward-preference': 'trl-preference',
  };

  test.each(forms)('are known again by what they wrote: $name $kind', ({ kind, create }) => {
    for (const options of [{}, bare]) {
      const form = formIn(create(options), kind);
      const written = writtenBy(form, rows[kind]());
      expect(readingFor(written)?.name).toBe(taken[form.name] ?? form.name);
    }
  });

  test('keep the provenance apart from what trainers read', () => {
    expect(provenance.problem).toBe(origin['problem_id']);
    const read = ['prompt', 'chosen', 'rejected', 'completion', 'completions', 'label', 'labels'];
    const other = ['messages', 'text', 'tools', 'images', 'chat_template_kwargs', 'input_ids'];
    for (const { kind, create } of forms) {
      const own = Object.keys(formIn(create(bare), kind).columns);
      const added = Object.keys(formIn(create({}), kind).columns).filter(
        (column) => !own.includes(column),
      );
      expect([kind, added.filter((column) => [...read, ...other].includes(column))]).toEqual([
        kind,
        [],
      ]);
    }
  });
});
