import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type CheckDatasetRequest,
  checkDatasetCommand,
  runCheckDatasetCommand,
} from '../../src/cli/check-dataset.ts';
import { fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const clean = fileIn(
  folder,
  'clean.jsonl',
  `${JSON.stringify({ prompt: 'Which?\n', chosen: 'Seven.', rejected: 'Eight.', margin: 0.5 })}\n`,
);
const faulty = fileIn(
  folder,
  'faulty.jsonl',
  `${JSON.stringify({ prompt: 'a\n', chosen: '\u001b[31mb', rejected: '\u001b[31mb' })}\n{"pro\u0007`,
);
const doubtful = fileIn(
  folder,
  'doubtful.jsonl',
  `${JSON.stringify({ prompt: 'Which? ', chosen: 'Seven.', rejected: 'Eight.' })}\n`,
);

afterEach(() => vi.restoreAllMocks());

async function check(path: string, request: CheckDatasetRequest = {}) {
  const written: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  const code = await runCheckDatasetCommand(path, request);
  return { code, text: written.join('') };
}

describe('espalier check-dataset', () => {
  test('a clean dataset: 0', async () => {
    const { code, text } = await check(clean);

    expect(code).toBe(0);
    expect(text).toMatch(/^default\/train {3}.*1 .*trl-preference$/m);
    expect(text).toMatch(/\nNo problems found in 1 row\. You can train\.\n$/);
  });

  test('no rows: 2, as there is nothing to train on', async () => {
    const { code, text } = await check(fileIn(folder, 'empty.jsonl', ''));

    expect(code).toBe(2);
    expect(text).toMatch(/\nThere are no rows to train on\.\n$/);
  });

  test('errors: 1, and nothing of the dataset reaches the terminal as it is', async () => {
    const { code, text } = await check(faulty);

    expect(code).toBe(1);
    expect(text).toContain('faulty.jsonl:1   \\u{1b}[31mb\n');
    expect(text).toContain('faulty.jsonl:2   {"pro\\u{7}\n');
    expect(text.replaceAll('\n', '')).toMatch(/^\P{Cc}*$/u);
    expect(text).toMatch(/\n2 errors, 1 warning in 1 row\. Fix the errors before training\.$/m);
  });

  test('warnings alone: 0', async () => {
    const { code, text } = await check(doubtful);

    expect(code).toBe(0);
    expect(text).toContain('\nWarnings\n  boundary-space, 1 in default\n');
    expect(text).toMatch(/You can train\.\n$/);
  });

  test('--json is the report', async () => {
    const { code, text } = await check(clean, { json: true, minMargin: 0.75 });

    expect(code).toBe(1);
    expect(JSON.parse(text)).toMatchObject({
      path: clean,
      errors: 1,
      warnings: 0,
      findings: [{ code: 'low-margin', severity: 'error', count: 1 }],
    });
  });

  test('what cannot be read is a usage error, which ends with 2', async () => {
    await expect(check(join(folder, 'nowhere'))).rejects.toMatchObject({ code: 'usage' });
  });

  test('the options are numbers', async () => {
    const given: CheckDatasetRequest[] = [];
    const command = checkDatasetCommand().action((_: string, request: CheckDatasetRequest) => {
      given.push(request);
    });
    const args = ['x', '--min-margin', '0.5', '--max-length', '2048', '--separator', '|', '--json'];
    await command.parseAsync(args, { from: 'user' });

    expect(given).toEqual([{ minMargin: 0.5, maxLength: 2048, separator: '|', json: true }]);
    await expect(
      checkDatasetCommand().parseAsync(['x', '--max-length', '0'], { from: 'user' }),
    ).rejects.toThrow('Expected `--max-length` to be an integer from 1 up');
  });
});
