import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anthropic, openai } from '../../src/backends/index.ts';
import { habits, hosts, servers } from '../../src/backends/openai-compatible/presets.ts';
import type { Capabilities } from '../../src/contracts/language-model.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/capabilities.md'), 'utf8');
const [, table = ''] = guide.split('| spec | key | unsupported |');
const rows = table
  .split('\n\n')[0]
  ?.split('\n')
  .slice(2)
  .map((row) => {
    const cells = row.split('|').map(wordsIn);
    const [, [spec = ''] = [], [key] = [], not = [], depends = []] = cells;
    return { spec, key, not, depends };
  });

/** What stands in backticks. */
function wordsIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

const words = [
  ...(['n', 'logprobs', 'seed', 'stop', 'continuation'] as const),
  ...(['schema', 'tools', 'temperature', 'topK'] as const),
];
const where = (capabilities: Capabilities, value: boolean | undefined) =>
  words.filter((word) => capabilities[word] === value).toSorted();

const known: Readonly<Record<string, readonly [string | undefined, Capabilities]>> = {
  anthropic: ['ANTHROPIC_API_KEY', anthropic({ model: 'claude-sonnet-5-5' }).capabilities],
  openai: ['OPENAI_API_KEY', openai({ model: 'gpt-6-luna' }).capabilities],
  ...Object.fromEntries(
    [...hosts, ...servers].map((name) => {
      const { keyVariable, capabilities } = habits[name];
      return [name, [keyVariable, capabilities]] as const;
    }),
  ),
};

test('the guide has a row for each provider and each kind of server', () => {
  const names = rows?.map(({ spec }) => spec.split(':')[0]);
  expect(names).toEqual(Object.keys(known));
});

test.each(Object.entries(known))(
  'the guide says whose key %s takes, and what it does not support',
  (name, [key, capabilities]) => {
    const row = rows?.find(({ spec }) => spec.split(':')[0] === name);
    expect(row?.key).toBe(key);
    expect(row?.not.toSorted()).toEqual(where(capabilities, false));
    expect(row?.depends.toSorted()).toEqual(where(capabilities, undefined));
  },
);
