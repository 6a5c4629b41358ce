import { rm } from 'node:fs/promises';
import * as z from 'zod';
import { EspalierError } from '../../base/errors.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { MaybePromise } from '../../contracts/json.ts';
import {
  type Folder,
  gitWorktree,
  type ToolEnvironment,
  type ToolState,
  toolEnvironment,
} from '../../environments/index.ts';
import { git } from '../../environments/worlds/git.ts';
import { journaled } from '../../policies/journaled.ts';
import { uniform } from '../../policies/uniform.ts';
import { heuristic } from '../../values/heuristic.ts';
import type { BenchInstance, BenchTask } from '../task.ts';
import type { BenchTaskEntry } from './entry.ts';
import { readRequest } from './request.ts';
import {
  drawFiles,
  type HoledFile,
  type Letter,
  letters,
  testFile,
  writeRepository,
} from './seeded-bugs.ts';
import { type Call, call, withoutAnswer } from './tool-task.ts';

/** Small repositories with bugs, fixed in copies of them. What is put into a file is one of four known expressions. */
export const worktreesEntry: BenchTaskEntry = {
  name: 'worktrees',
  title: 'repositories with bugs, fixed in worktrees',
  create(options = {}) {
    expectOptions('worktrees', options, '');
    return worktrees();
  },
};

function worktrees(): BenchTask {
  const open: (() => Promise<void>)[] = [];
  return {
    name: 'worktrees',
    title: 'Worktrees',
    async instances(request) {
      const { count, seed } = readRequest(this, request);
      await expectGit();
      const random = seededRandom(seed).split('worktrees');
      return Array.from({ length: count }, (_, index) => {
        const files = drawFiles(random.split(index));
        const { close, ...instance } = mendingInstance(files);
        open.push(close);
        const bugs = files.filter(({ held, right }) => held !== right).length;
        return { id: `${index + 1}-${bugs}-of-${files.length}-broken`, ...instance };
      });
    },
    async close() {
      await Promise.all(open.splice(0).map((each) => each()));
    },
  };
}

async function expectGit(): Promise<void> {
  try {
    await git(undefined, ['--version']);
  } catch (cause) {
    const message = 'The task `worktrees` needs the program `git` on the PATH: install it.';
    throw new EspalierError('usage', message, { cause });
  }
}

/** The repository is written when the first search begins. */
function mendingInstance(
  files: readonly HoledFile[],
): Pick<BenchInstance, 'environment' | 'guides'> & { close(): Promise<void> } {
  let written: ReturnType<typeof writeRepository> | undefined;
  const environment = mending(files, async () => {
    written ??= writeRepository(files);
    const { root } = await written;
    return gitWorktree({ repository: root })();
  });
  return {
    environment: withoutAnswer(environment),
    guides: {
      policy: journaled(uniform(changesIn(files)), { name: 'expressions', key: environment.key }),
      evaluator: heuristic((state: ToolState) => passingIn(state) / files.length),
    },
    async close() {
      await environment.close();
      const left = await written?.catch(() => undefined);
      written = undefined;
      if (left !== undefined) await rm(left.folder, { recursive: true, force: true });
    },
  };
}

/**
 * Files with holes as an environment: it ends with reward 1 where all tests pass.
 *
 * @param create - Opens a worktree of their repository.
 */
export function mending(
  files: readonly HoledFile[],
  create: () => MaybePromise<Folder>,
): ToolEnvironment<null> {
  const paths = files.map(({ path }) => path);
  return toolEnvironment(create, {
    name: 'worktrees',
    task: taskOf(files),
    tools: (tool) => ({
      put: tool({
        description: 'Puts an expression into the hole of a file, and runs the tests.',
        input: z.object({ file: z.enum(paths), expression: z.enum(letters) }),
        effect: 'reversible',
        async run(folder, { file, expression }) {
          const { expressions, textWith } = files.find(({ path }) => path === file) as HoledFile;
          await folder.write(file, textWith(expressions[expression]));
          return { passing: await testsPassing(folder, files.length), tests: files.length };
        },
      }),
    }),
    done: (_, output) =>
      (output as { readonly passing: number } | undefined)?.passing === files.length,
  });
}

function taskOf(files: readonly HoledFile[]): string {
  const shown = files.map(({ path, expect, expressions, held, textWith }) => {
    const choices = letters.map((letter) => `  ${letter}: ${expressions[letter]}`);
    const now = `  The hole ___ holds ${held}. The test: deepEqual(${expect})`;
    return [`${path}: ${textWith('___').trim()}`, ...choices, now].join('\n');
  });
  return `Some tests of this repository fail. Each of its files has a hole, which holds one of four expressions. Put others there until all tests pass.\n\n${shown.join('\n\n')}`;
}

/** How many tests pass, by the summary of Node's runner: the files cannot write one. */
async function testsPassing(folder: Folder, count: number): Promise<number> {
  const command = [process.execPath, '--test-reporter=tap', testFile];
  const { output } = await folder.run(command, { timeoutMs: 20_000 });
  const numberOf = (what: string) =>
    Number(new RegExp(`^# ${what} (\\d+)\\r?$`, 'm').exec(output)?.[1] ?? Number.NaN);
  const passing = numberOf('pass');
  if (numberOf('tests') === count && passing <= count) return passing;
  throw new Error(`The tests did not run to their end: ${output.slice(-500)}`);
}

/** How many tests passed after the last call; 0 if they were never run. */
export function passingIn({ turns }: ToolState): number {
  const told = turns.findLast(({ content }) => content.includes('"passing":'))?.content ?? '';
  return Number(/"passing":(\d+)/.exec(told)?.[1] ?? 0);
}

/** The contents of the holes of the files, by path. */
export function heldIn(
  files: readonly HoledFile[],
  { calls }: ToolState,
): ReadonlyMap<string, Letter> {
  const put = calls
    .filter(({ fate }) => fate === 'ran')
    .map(({ input }) => input as { readonly file: string; readonly expression: Letter });
  return new Map([
    ...files.map(({ path, held }) => [path, held] as const),
    ...put.map(({ file, expression }) => [file, expression] as const),
  ]);
}

/** The calls that change something. */
export function changesIn(files: readonly HoledFile[]): (state: ToolState) => readonly Call[] {
  return (state) => {
    const held = heldIn(files, state);
    return files.flatMap(({ path: file }) =>
      letters
        .filter((letter) => letter !== held.get(file))
        .map((expression) => call('put', { file, expression })),
    );
  };
}
