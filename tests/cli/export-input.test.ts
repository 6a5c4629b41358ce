import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readTemplate } from '../../src/cli/chat-template.ts';
import { pushOf } from '../../src/cli/push.ts';
import { readOmegaPrm } from '../../src/data/readers/omega-prm.ts';
import { readInput } from '../../src/runs/input-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-input-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: Buffer | string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

test('a file that is not UTF-8 is refused with its line', () => {
  const path = file('bad.jsonl', Buffer.from([0x61, 0x0a, 0xc3, 0xa4, 0x0a, 0xff, 0x0a]));
  expect(() => readInput(path)).toThrow(/bad\.jsonl` to be UTF-8, got other bytes in line 3\.$/);
  expect(readInput(file('good.jsonl', 'a\nä\n'))).toBe('a\nä\n');
});

test('half of a character is refused with its line, a whole one and its spelling are not', () => {
  const line = (text: string) =>
    `{"question":"${text}","reasoning_steps":{"text":"","children":[{"text":"s","mc_value":1}]}}`;
  const sound = ['\\ud83d\\ude00', '\\\\ud83d'].map(line);
  expect(readOmegaPrm(sound.join('\n'))).toHaveLength(2);
  expect(() => readOmegaPrm([...sound, line('a \\ud83d b')].join('\n'))).toThrow(
    'line 3, the whole: it holds half of a character, `\\ud83d`.',
  );
});

test('of several chat templates the default one is taken, or the one named', () => {
  const listed = [
    { name: 'tool_use', template: '{{ messages }} tools' },
    { name: 'default', template: '{{ messages }}' },
  ];
  const path = file('tokenizer_config.json', JSON.stringify({ chat_template: listed }));
  expect(readTemplate(path)).toBe('{{ messages }}');
  expect(readTemplate(`${path}#tool_use`)).toBe('{{ messages }} tools');
  expect(() => readTemplate(`${path}#rag`)).toThrow('to hold a `chat_template` named `rag`.');
  expect(() => readTemplate(file('empty.jinja', ' \n'))).toThrow('got an empty text.');
});

test('a push is refused before anything is written', () => {
  expect(pushOf({ out: 'a' })).toBeUndefined();
  expect(() => pushOf({ out: 'a', public: true })).toThrow('Expected `--public` beside `--push`.');
  expect(() => pushOf({ out: 'a', push: 'rows' })).toThrow('Expected `--push` to be owner/name');
});
