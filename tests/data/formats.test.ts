import { describe, expect, test } from 'vitest';
import { formatFamilies } from '../../src/data/formats/families.ts';
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
} from './formats-rows.ts';

describe('all forms', () => {
  const rows = { preference, prompt, rollout, sft, stepwise, unpaired };
  const forms = formatFamilies.flatMap((family) =>
    Object.entries(family.formats).map(([kind, form]) => ({ family, kind: kind as RowKind, form })),
  );

  test('stand in the order of their names', () => {
    const names = formatFamilies.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(forms)(
    'are named and write their columns: $family.name $kind',
    ({ family, kind, form }) => {
      for (const options of [{}, bare]) {
        const { name, columns, kind: own, toFile } = form(options);
        expect({ name, own }).toEqual({ name: `${family.name}-${kind}`, own: kind });
        const written = toFile(rows[kind]());
        const lacking = Object.entries(columns)
          .filter(([, type]) => !(typeof type === 'object' && 'optional' in type))
          .filter(([column]) => written?.[column] === undefined);
        expect(lacking).toEqual([]);
        expect(Object.keys(written ?? {}).filter((column) => !(column in columns))).toEqual([]);
      }
    },
  );

  test('keep the provenance apart from what trainers read', () => {
    expect(provenance.problem).toBe(origin['problem_id']);
    const read = ['prompt', 'chosen', 'rejected', 'completion', 'completions', 'label', 'labels'];
    const other = ['messages', 'text', 'tools', 'images', 'chat_template_kwargs', 'input_ids'];
    for (const { kind, form } of forms) {
      const own = Object.keys(form(bare).columns);
      const added = Object.keys(form({}).columns).filter((column) => !own.includes(column));
      expect([kind, added.filter((column) => [...read, ...other].includes(column))]).toEqual([
        kind,
        [],
      ]);
    }
  });
});
