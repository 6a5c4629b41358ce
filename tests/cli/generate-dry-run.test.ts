import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { build, espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const questions = [1, 2, 3, 4].map((first) => ({ question: `What is ${first} + 1?` }));

beforeAll(build, 60_000);

test('generate --dry-run says what it would do and may cost, and leaves nothing', async () => {
  const problems = fileIn(
    folder,
    'dry.jsonl',
    questions.map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  const [out, run] = [join(folder, 'dry'), join(folder, 'dry-run')];
  // Nobody listens there.
  const asked = ['--problems', problems, '--model', 'vllm:http://localhost:9/v1#m', '--dry-run'];
  const to = ['--out', out, '--run', run, '--price-in', '1', '--price-out', '4'];
  const dry = (...options: readonly string[]) => espalier('generate', ...asked, ...to, ...options);

  const each = await dry('--calls', '60', '--tokens', '20000', '--attempts', '2');
  expect(each).toMatchObject({ code: 0, stderr: '' });
  expect(each.stdout).toContain(
    '4 problems, 2 trees each, by mcts: 8 searches of at most 60 calls, 20,000 tokens each.',
  );
  expect(each.stdout).toContain('All together at most 480 calls, 160,000 tokens and $0.64.');
  const all = await dry('--method', 'agent-q', '--budget-usd', '5', '--budget-calls', '9');
  expect(all.stdout).toContain('All together at most 9 calls, any number of tokens and $5.00.');
  const puzzles = ['--problems', fileIn(folder, 'puzzles.txt', '4 9 10 13\n'), '--task', 'game24'];
  const tiny = ['generate', ...puzzles, '--model', 'tiny', '--dry-run', ...to.slice(0, 4)];
  const local = await espalier(...tiny);
  expect(local.stdout).toContain('any number of tokens and no dollars.');
  const { stdout } = await dry('--json', '--limit', '1', '--calls', '7');
  expect(JSON.parse(stdout)).toEqual({
    ...{ problems: 1, attempts: 1, searches: 1, method: 'mcts' },
    ...{ budget: { calls: 7 }, most: { calls: 7 } },
  });
  expect([existsSync(out), existsSync(run)]).toEqual([false, false]);
});
