// A repository, a search over it, and a world, which the guide leaves to its reader.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SearchTree, search, solved, type World } from 'espalier';
import {
  type ActionOf,
  gitWorktree,
  type StateOf,
  type ToolEnvironment,
  toolEnvironment,
} from 'espalier/environments';
import { heuristic } from 'espalier/values';
import * as z from 'zod';

export const repository: string = mkdtempSync('repository-');
const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args]);
writeFileSync(join(repository, 'sum.mjs'), 'export const sum = 1;\n');
git('init', '--quiet');
for (const [key, value] of Object.entries({ name: 'Ada', email: 'ada@example.org' }))
  git('config', `user.${key}`, value);
git('add', '--all');
git('commit', '--quiet', '--message', 'Begin');

export const environment: ToolEnvironment = toolEnvironment(gitWorktree({ repository }), {
  name: 'repair',
  task: 'Write 2 into sum.mjs.',
  tools: (tool) => ({
    write: tool({
      input: z.object({ text: z.string() }),
      effect: 'reversible',
      run: (folder, { text }) => folder.write('sum.mjs', text),
    }),
  }),
  done: async (folder) => (await folder.read('sum.mjs')).includes('2'),
});

const found = await search(environment, {
  policy: () => [{ action: { tool: 'write', input: { text: 'export const sum = 2;\n' } } }],
  evaluator: heuristic(() => 0.5),
  budget: { simulations: 4 },
  stopWhen: solved(),
});

type Grown = SearchTree<StateOf<ToolEnvironment>, ActionOf<ToolEnvironment>>;

export const tree: Grown = found.tree;

export const openGame = (): World<number, number> => ({
  reset: () => ({ observation: 0 }),
  act: (move) => ({ observation: move, terminal: true, reward: 1 }),
});
