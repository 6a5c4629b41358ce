/**
 * A process to be killed: `world-worker.ts WORK URL JOURNAL SEED`. It searches, takes back or commits on the journal, with
 * tools that ask the witness at the address, and says when it begins and what it came to.
 */
import type { Journal } from '../../src/calls/journal.ts';
import { openJournal } from '../../src/calls/journal-file.ts';
import { toolEnvironment } from '../../src/environments/index.ts';
import { search } from '../../src/index.ts';
import { askAt } from '../support/witness-process.ts';
import { add, call, mail, note, pathOf, set } from './world-path.ts';
import { actionFrom, toolsOf } from './world-tools.ts';

const [, , work = '', url = '', path = '', seed = ''] = process.argv;
const journal = openJournal(path);
const tools = toolsOf(askAt(url));
const worldOn = (on: Journal) =>
  toolEnvironment([], { name: 'world', task: 'Do it.', tools, journal: on });
const world = worldOn(journal);
process.stdout.write('begins\n');

/** A path as it was searched, with all of it taken back. What a commit has done is none of it: it has a journal of its own. */
async function pathBefore() {
  await using searched = worldOn(openJournal(`${path}.search`));
  const steps = [set('a', '1'), mail('m'), add('x'), note('n'), call('c'), set('b', seed)];
  return await pathOf(searched, steps);
}

async function done(): Promise<unknown> {
  if (work === 'recover') return world.recover();
  if (work === 'commit') {
    const node = await pathBefore();
    return world.commit(node, { journal, approve: () => true });
  }
  const { stopReason } = await search(world, {
    policy: (_node, { context }) =>
      Array.from({ length: 2 }, () => ({ action: actionFrom(context.random) })),
    evaluator: (_node, { context }) => context.random.next(),
    budget: { simulations: 10 },
    ...{ seed, journal, concurrency: 4 },
  });
  return stopReason;
}

process.stdout.write(`${JSON.stringify(await done())}\n`);
process.exit(0);
