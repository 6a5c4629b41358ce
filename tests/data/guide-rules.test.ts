import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { rowRules } from '../../src/data/catalogue.ts';
import { pairFilters } from '../../src/data/pairs/pair-rule.ts';

const guide = readFileSync(new URL('../../docs/guides/datasets.md', import.meta.url), 'utf8');

/** What all rules on pairs take. */
const ofAllPairs: readonly string[] = pairFilters.split(' ');

/** The options of a rule, as it tells them to who names one that it does not have. */
function optionsOf(create: (options: object) => unknown): readonly string[] {
  try {
    create({ 'no option of any rule': true });
  } catch (error) {
    return (/It has (.*)\.$/.exec((error as Error).message)?.[1] ?? '').split(', ');
  }
  throw new Error('Expected a refusal.');
}

test('the guide lists each rule with what it makes and all of its options', () => {
  const lines = rowRules.map(({ name, title = '', kind, create }) => {
    const own = optionsOf(create).filter(
      (option) => kind !== 'preference' || !ofAllPairs.includes(option),
    );
    const options = own.map((option) => `\`${option}\``);
    return `| \`${name}\` | ${title} | ${options.join(' ')} |`.replace('|  |', '| |');
  });
  const [, table = ''] = guide.split('| rule | what it makes | options |\n|---|---|---|\n');
  expect(table.split('\n\n')[0]?.split('\n')).toEqual(lines);
});

test('the guide says what each option of a rule does', () => {
  const names = new Set(rowRules.flatMap(({ create }) => optionsOf(create)));
  const said = [...guide.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| [^|]+\|$/gm)].flatMap(
    ([, all = '']) => all.split(', ').map((name) => name.slice(1, -1)),
  );
  expect([...names].filter((name) => !said.includes(name))).toEqual([]);
});
