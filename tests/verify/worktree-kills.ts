/**
 * Processes that search in copies and commit are killed at random moments of the commit. After a `recover` the checkout
 * is untouched, or wholly the winner, and nothing is left behind. `npm run verify:worktrees` runs it 20 times of each kind.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { openJournal } from '../../src/calls/index.ts';
import { fileSystem, gitWorktree, toolEnvironment } from '../../src/environments/index.ts';
import { removeLeftovers } from '../../src/environments/worlds/leftovers.ts';
import { search, seededRandom } from '../../src/index.ts';
import { everything, inGit, put, userRepository } from '../environments/worlds/user-folder.ts';

const files = Array.from({ length: 100 }, (_, index) => `f${index}.txt`);

function environmentOf(kind: string, root: string) {
  const folders =
    kind === 'git' ? gitWorktree({ repository: root }) : fileSystem({ root, ignore: ['.git'] });
  return toolEnvironment(folders, {
    name: 'kills',
    task: 'Write.',
    tools: (tool) => ({
      write: tool({
        input: z.object({}),
        effect: 'reversible',
        run: async (folder) => {
          for (const file of files) await folder.write(file, 'new');
          await folder.remove('docs/old');
        },
      }),
    }),
    done: (_, output) => output !== undefined,
  });
}

async function searchAndCommit(kind: string, root: string, journal: string): Promise<void> {
  await using environment = environmentOf(kind, root);
  const policy = () => [{ action: { tool: 'write' as const, input: {} } }];
  const { tree } = await search(environment, {
    policy,
    evaluator: () => 0.5,
    budget: { calls: 9 },
  });
  await environment.commit(tree, { journal: openJournal(journal) });
}

/** Whether it was untouched, or the winner, or neither. */
async function killOnce(kind: string, afterMs: number): Promise<string> {
  const root = userRepository();
  for (const file of files) put(root, file, 'old');
  inGit(root, 'add', '--all');
  inGit(root, 'commit', '--quiet', '-m', 'Files');
  const before = everything(root, ['.git']);
  const journal = `${root}.jsonl`;
  const child = spawn(process.execPath, [...process.execArgv, import.meta.filename, kind, root], {
    stdio: 'inherit',
  });
  const timer = setInterval(() => {
    // The checkout is about to be changed.
    if (!readdirSync(root).some((name) => name.startsWith('.espalier-'))) return;
    clearInterval(timer);
    setTimeout(() => child.kill('SIGKILL'), afterMs);
  }, 1);
  await once(child, 'exit');
  clearInterval(timer);
  await using environment = environmentOf(kind, root);
  const { failed } = await environment.recover(openJournal(journal));
  const after = everything(root, ['.git']);
  const isClean = kind !== 'git' || inGit(root, 'status', '--porcelain') === '';
  const left = readdirSync(join(root, '.git')).filter((name) => /lock|espalier/.test(name));
  const isWinner = files.every((file) => after[file] !== before[file]) && !after['docs/old'];
  const isUntouched = JSON.stringify(after) === JSON.stringify(before);
  for (const path of [root, journal]) rmSync(path, { recursive: true, force: true });
  if (failed.length > 0 || left.length > 0 || !isClean)
    return `FAULT ${failed.join()} ${left.join()}`;
  return isUntouched ? 'untouched' : isWinner ? 'winner' : 'FAULT: half';
}

const [, , kind = '20', root] = process.argv;
if (root !== undefined) await searchAndCommit(kind, root, `${root}.jsonl`);
else {
  const own = mkdtempSync(join(tmpdir(), 'verify-worktree-kills-'));
  // biome-ignore lint/style/noProcessEnv: what is left behind is looked for where nothing else is
  process.env['TMPDIR'] = own;
  const random = seededRandom('kills');
  const counts: Record<string, number> = {};
  for (let at = 0; at < 2 * Number(kind); at++) {
    const of = at % 2 === 0 ? 'git' : 'folder';
    const came = `${of} ${await killOnce(of, random.next() * (of === 'git' ? 800 : 120))}`;
    counts[came] = (counts[came] ?? 0) + 1;
  }
  await removeLeftovers();
  const left = readdirSync(own).filter((name) => !name.startsWith('tsx-'));
  rmSync(own, { recursive: true });
  process.stdout.write(`${JSON.stringify(counts)}, left behind: ${left.join(', ') || 'nothing'}\n`);
  process.exitCode =
    left.length > 0 || Object.keys(counts).some((key) => /FAULT/.test(key)) ? 1 : 0;
}
