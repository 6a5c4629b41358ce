/** Fixes a repository: patches are tried in copies of it, its tests say which are right, and `commit` applies one. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bestFirst, renderTree, search, solved } from 'espalier';
import { memoryJournal } from 'espalier/calls';
import { type Folder, gitWorktree, type ToolState, toolEnvironment } from 'espalier/environments';
import { callTools } from 'espalier/policies';
import { scriptedModel } from 'espalier/testing';
import { heuristic } from 'espalier/values';
import * as z from 'zod';

// A repository with two bugs, and a test for each.
const repository = mkdtempSync(join(tmpdir(), 'fix-'));
const files = {
  'package.json': '{ "type": "module" }\n',
  'range.js':
    'export const range = (from, to) => Array.from({ length: to - from - 1 }, (_, i) => from + i);\n',
  'mean.js': 'export const mean = (list) => list.reduce((a, b) => a + b, 0) * list.length;\n',
  'all.test.js': `import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { mean } from './mean.js';
import { range } from './range.js';
test('range', () => deepEqual(range(2, 5), [2, 3, 4]));
test('mean', () => equal(mean([1, 2, 6]), 3));
`,
};
for (const [path, text] of Object.entries(files)) {
  writeFileSync(join(repository, path), text);
}
const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args]).toString();
git('init', '--quiet');
git('config', 'user.name', 'Ada');
git('config', 'user.email', 'ada@example.org');
git('add', '--all');
git('commit', '--quiet', '--message', 'Begin');

const passed = 'All tests pass.';

/** Runs the tests in a copy, and says which fail. */
async function test(folder: Folder): Promise<string> {
  const command = ['node', '--test', '--test-reporter=tap'];
  const { code, output } = await folder.run(command, { timeoutMs: 20_000 });
  const failed = [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, name]) => name);
  return code === 0 ? passed : `Failed: ${failed.join(', ') || output}`;
}

await using environment = toolEnvironment(gitWorktree({ repository }), {
  name: 'fix',
  task: 'Make the tests pass. The sources are `range.js` and `mean.js`.',
  tools: (tool) => ({
    patch: tool({
      description: 'Replaces a piece of a file, and runs the tests.',
      input: z.object({ path: z.string(), before: z.string(), after: z.string() }),
      effect: 'reversible',
      async run(folder, { path, before, after }) {
        const text = await folder.read(path);
        if (!text.includes(before)) throw new Error(`\`${path}\` does not hold that text.`);
        await folder.write(
          path,
          text.replace(before, () => after),
        );
        return test(folder);
      },
    }),
  }),
  // `output` is the test result; at the start it is undefined, so run the tests.
  done: async (folder, output) => (output ?? (await test(folder))) === passed,
  instances: 2,
});

// What a model would propose: two of these are right, each for one bug.
const patches = [
  { path: 'range.js', before: 'from - 1', after: 'from + 1' },
  { path: 'range.js', before: 'to - from - 1', after: 'to - from' },
  { path: 'mean.js', before: '* list.length', after: '/ (list.length - 1)' },
  { path: 'mean.js', before: '* list.length', after: '/ list.length' },
];
const model = scriptedModel({
  capabilities: { n: true, tools: true },
  answer: (_, index) => ({
    text: '',
    finishReason: 'stop',
    toolCalls: [
      { id: `patch-${index}`, name: 'patch', input: patches[index % patches.length] ?? {} },
    ],
  }),
});

const before = everything(repository);
const { tree, best } = await search(environment, {
  policy: callTools({ model, samples: patches.length }),
  // The fewer tests fail, the better.
  evaluator: heuristic(({ turns }: ToolState) =>
    /Failed: \w+$/m.test(turns.at(-1)?.content ?? '') ? 0.5 : 0.1,
  ),
  algorithm: bestFirst({ maxDepth: 3 }),
  budget: { simulations: 10 },
  concurrency: 2,
  stopWhen: solved(),
});
assert.equal(best.reward, 1);
console.log(renderTree(tree, { format: ({ input }) => JSON.stringify(input), width: 80 }));
// Nothing was written to the repository, and nothing to its `.git`.
assert.deepEqual(everything(repository), before);

// One commit on the branch that is checked out, and its files in the checkout.
const { status } = await environment.commit(tree, { journal: memoryJournal() });
assert.equal(status, 'committed');
console.log(git('show', '--unified=0'));
assert.equal(git('status', '--porcelain'), '');
execFileSync('node', ['--test'], { cwd: repository });
rmSync(repository, { recursive: true });

/** The hash of each file below a folder. */
function everything(root: string): Readonly<Record<string, string>> {
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const paths = found.map((path) => join(root, path)).filter((path) => statSync(path).isFile());
  return Object.fromEntries(
    paths.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}
