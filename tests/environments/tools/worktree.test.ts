import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import { type Folder, gitWorktree, toolEnvironment } from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';
import { everything, inGit, removeAll, userRepository } from '../worlds/user-folder.ts';

const roots: string[] = [];
afterEach(() => removeAll(...roots.splice(0)));

/** Writes texts in a repository whose check leaves a report behind, which git does not ignore. */
function reporting() {
  const repository = userRepository();
  roots.push(repository);
  const outputs: unknown[] = [];
  const environment = toolEnvironment(gitWorktree({ repository }), {
    name: 'reporting',
    task: 'Write 2.',
    tools: (tool) => ({
      write: tool({
        input: z.object({ path: z.string(), text: z.string() }),
        effect: 'reversible',
        run: async (folder, { path, text }) => {
          await folder.write(path, text);
          return `${(await folder.list()).filter((each) => each.startsWith('report')).length} reports`;
        },
      }),
    }),
    async done(folder: Folder, output) {
      outputs.push(output);
      await folder.write(`report-${outputs.length}.txt`, 'Checked.\n');
      return false;
    },
  });
  return { repository, environment, outputs };
}

test('what a check leaves in a copy is in no other state and in no commit, and it is told what came out', async () => {
  const { repository, environment, outputs } = reporting();
  const before = everything(repository);
  const { tree, best } = await search(environment, {
    policy: () => [
      { action: { tool: 'write', input: { path: 'a', text: '1' } } },
      { action: { tool: 'write', input: { path: 'c', text: '2' } } },
    ],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 3 }),
    budget: { simulations: 12 },
  });
  expect([...tree.nodes()].flatMap(({ failure }) => failure ?? [])).toEqual([]);
  expect(tree.size).toBeGreaterThan(5);
  // At the start nothing came out of anything.
  expect(outputs[0]).toBeUndefined();
  expect(new Set(outputs.slice(1))).toEqual(new Set(['0 reports']));
  expect(everything(repository)).toEqual(before);
  const { status } = await environment.commit(best, { journal: memoryJournal() });
  await environment.close();
  expect(status).toBe('committed');
  const files = inGit(repository, 'ls-files').split('\n');
  expect(files.filter((file) => file.startsWith('report'))).toEqual([]);
  expect(inGit(repository, 'status', '--porcelain')).toBe('');
});
