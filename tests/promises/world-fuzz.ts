/**
 * Searches and commits that are killed, over and over, before or after any line of their journals and any thing that a
 * tool does. What is right is judged by a witness of what the tools ask of it, and by a second one on which the path is
 * done by hand.
 */
import type { Journal } from '../../src/calls/journal.ts';
import { toolEnvironment } from '../../src/environments/index.ts';
import {
  type JsonValue,
  type Random,
  type SearchTree,
  search,
  seededRandom,
} from '../../src/index.ts';
import { type Asked, Witness, type Witnessing } from '../support/witness.ts';
import type { WitnessProcess } from '../support/witness-process.ts';
import { Disk, Life } from './world-lives.ts';
import {
  type Action,
  actionFrom,
  byHand,
  furnish,
  type State,
  type ToolWorld,
  toolsOf,
} from './world-tools.ts';

/** What the cases came to. */
export interface Tally {
  cases: number;
  kills: number;
  readonly ends: Record<string, number>;
  readonly faults: string[];
}

/** What is different from case to case. */
interface Scene {
  readonly seed: number;
  /** Of a thousand runs or undos, how many throw: before they do anything, or after. */
  readonly throwing: number;
  readonly concurrency: number;
  readonly isLying: boolean;
}

const same = (one: JsonValue, other: JsonValue) => JSON.stringify(one) === JSON.stringify(other);

class Case {
  readonly #tally: Tally;
  readonly #random: Random;
  readonly #scene: Scene;
  readonly #disk = new Disk();
  readonly #ask: Witnessing;

  constructor(seed: number, tally: Tally, ask: Witnessing) {
    this.#tally = tally;
    this.#ask = ask;
    this.#random = seededRandom('worlds').split(seed);
    const random = this.#random.split('scene');
    this.#scene = {
      seed,
      throwing: random.integer(2) * 60,
      concurrency: 1 + random.integer(8),
      isLying: random.integer(6) === 0,
    };
  }

  #fault(what: string): void {
    this.#tally.faults.push(`seed ${this.#scene.seed}: ${what}`);
  }

  /** Runs something in process after process: each but the last is killed on its way. */
  async #lives<Value>(
    name: string,
    longest: number,
    work: (world: ToolWorld, journal: Journal) => Promise<Value>,
  ): Promise<Value> {
    for (let life = 0; ; life++) {
      const random = this.#random.split(name, life);
      const isLast = life > random.integer(5);
      const process = new Life(isLast ? -1 : random.integer(longest));
      const journal = this.#disk.journal(process, random.split('disk'));
      const luck = { ...this.#scene, random: random.split('luck') };
      const tools = toolsOf(process.asking(this.#ask), luck);
      const world = toolEnvironment([], { name: 'world', task: 'x', tools, journal });
      const end = await process.live(() => work(world, journal));
      if (end !== 'killed') return end.value;
      this.#tally.kills += 1;
    }
  }

  async run(): Promise<void> {
    const { seed, concurrency } = this.#scene;
    await furnish(this.#ask);
    const before = await this.#ask({ op: 'dump' });
    const tree = await this.#lives('search', 120, async (world, journal) => {
      const result = await search(world, {
        policy: (_node, { context }) =>
          Array.from({ length: 2 }, () => ({ action: actionFrom(context.random) })),
        evaluator: (_node, { context }) => context.random.next(),
        budget: { simulations: 8 },
        ...{ seed, journal, concurrency },
      });
      return result.tree;
    });
    const failed = await this.#lives('recover', 12, async (world) => {
      // What throws by chance goes well at last.
      for (let turn = 0; ; turn++) {
        const recovery = await world.recover();
        if (recovery.failed.length === 0 || turn > 20) return recovery.failed;
      }
    });
    if (failed.length > 0) this.#fault(`nothing was recovered: ${failed.join()}`);
    const after = await this.#ask({ op: 'dump' });
    if (!same(before, after))
      this.#fault(`the world was ${JSON.stringify(before)} and is ${JSON.stringify(after)}`);
    await this.#commit(tree);
  }

  async #commit(tree: SearchTree<State, Action>): Promise<void> {
    const random = this.#random.split('commit');
    const nodes = [...tree.nodes()].filter(({ kind }) => kind === 'realised');
    const deep = nodes.toSorted((a, b) => b.depth - a.depth).slice(0, 6);
    const node = deep[random.integer(deep.length)] ?? tree.root;
    if (node.kind === 'proposed') return;
    const planned = node.state.calls.filter(
      ({ effect, fate }) =>
        fate !== 'failed' && (effect === 'reversible' || effect === 'irreversible'),
    );
    const mails = planned.filter(({ effect }) => effect === 'irreversible').length;
    await this.#ask({ op: 'mark', text: `commit ${mails}` });
    const committed = await this.#lives('commit', 30, (world, journal) =>
      world.commit(node, { journal, approve: () => true }),
    );
    this.#tally.ends[committed.status] = (this.#tally.ends[committed.status] ?? 0) + 1;
    // A commit that could not take back what it had begun leaves that to the next.
    await this.#lives('end', 1000, async (world) => {
      for (let turn = 0; turn < 20; turn++) if ((await world.recover()).failed.length === 0) return;
    });
    const world = await this.#ask({ op: 'dump' });
    const { done, notDone, status } = committed;
    if (done.length + notDone.length !== planned.length)
      this.#fault(`${planned.length} planned, ${done.length} done, ${notDone.length} not`);
    if (status === 'committed' && notDone.length > 0) this.#fault('committed, and not all is done');
    const { throwing, isLying } = this.#scene;
    if (throwing === 0 && !isLying && status !== 'committed' && status !== 'unknown') {
      this.#fault(`nothing went wrong, and it ended ${status}: ${committed.message}`);
    }
    const other = (): Witnessing => {
      const witness = new Witness();
      return async (asked) => witness.ask(asked);
    };
    const expected = [await byHand(other(), done)];
    // A person cannot tell either.
    if (status === 'unknown')
      expected.push(await byHand(other(), [...done, ...notDone.slice(0, 1)]));
    if (!expected.some((one) => same(one, world))) {
      this.#fault(
        `after ${status} (${committed.message}) the world is ${JSON.stringify(world)} and not ${JSON.stringify(expected)}`,
      );
    }
  }
}

/** Judges the requests of a case: what is irreversible happened at most once, and after the commit began. */
function sendsIn(log: readonly Asked[]): string | undefined {
  const mark = log.findIndex(({ op }) => op === 'mark');
  const early = log.slice(0, mark < 0 ? log.length : mark).filter(({ op }) => op === 'send');
  if (early.length > 0) return `${early.length} were sent in branches`;
  const ids = log.flatMap((asked) => (asked.op === 'send' ? [asked.id] : []));
  return new Set(ids).size < ids.length ? 'one was sent twice' : undefined;
}

/**
 * Runs cases, each on a witness of its own.
 *
 * @param distant - A witness in another process, which every fiftieth case is run on.
 */
export async function fuzzWorlds(
  seeds: Iterable<number>,
  distant?: Pick<WitnessProcess, 'ask' | 'log'>,
): Promise<Tally> {
  const tally: Tally = { cases: 0, kills: 0, ends: {}, faults: [] };
  for (const seed of seeds) {
    const here = new Witness();
    const witness = { ask: async (asked: Asked) => here.ask(asked), log: () => here.log };
    const { ask, log } = seed % 50 === 0 ? (distant ?? witness) : witness;
    await ask({ op: 'reset' });
    await new Case(seed, tally, ask).run();
    const all = log();
    const sends = sendsIn(all.slice(all.findLastIndex(({ op }) => op === 'reset')));
    if (sends !== undefined) tally.faults.push(`seed ${seed}: ${sends}`);
    tally.cases += 1;
  }
  return tally;
}
