/**
 * Searches and commits that are killed, over and over, before or after any line of their journals and any thing that a
 * tool does. What is right is judged by a witness of what the tools ask of it, and by a second one on which the path is
 * done by hand.
 */
import { type JournalLine, LineReader, sealLine } from '../../src/calls/journal-lines.ts';
import { z } from 'zod';
import type { Journal } from '../../src/calls/journal.ts';
import {
  type JsonValue,
  type Random,
  type SearchTree,
  search,
  seededRandom,
} from '../../src/index.ts';
import { type Action, type State, type ToolWorld, toolWorld } from '../support/stand-in-tools.ts';
import { type Asked, Witness, type Witnessing } from '../support/witness.ts';

/** What the cases came to. */
export interface Tally {
  cases: number;
  kills: number;
  readonly ends: Record<string, number>;
  readonly faults: string[];
}

class Killed extends Error {}

/** A process, as far as it can be killed: at its n-th line or request. */
class Life {
  #left: number;
  isDead = false;
  #die = (): void => {};
  readonly death: Promise<'killed'>;

  constructor(steps: number) {
    this.#left = steps;
    this.death = new Promise((resolve) => {
      this.#die = () => resolve('killed');
    });
  }

  /** Whether the process is still there. */
  step(): boolean {
    if (!this.isDead && this.#left-- === 0) {
      this.isDead = true;
      this.#die();
    }
    return !this.isDead;
  }
}

/** The bytes of a journal, which outlive processes. */
class Disk {
  readonly #lines: string[] = [];
  #torn = '';

  show() { for (const l of this.#lines) if (l.includes('"deed"')) console.log(l.slice(0, 330)); }
  journal(life: Life, random: Random): Journal {
    const reader = new LineReader();
    const read = this.#lines.flatMap((line) => reader.read(Buffer.from(line)) ?? []);
    if (reader.readRest(Buffer.from(this.#torn)) !== undefined) throw new Error('A torn line was read.');
    this.#torn = '';
    const append = (line: JournalLine): void => {
      const text = sealLine(line);
      if (!life.step()) {
        if (this.#torn === '' && random.integer(3) === 0) {
          this.#torn = text.slice(0, 1 + random.integer(text.length - 1));
        }
        throw new Killed();
      }
      this.#lines.push(text);
      read.push(line);
      if (!life.step()) throw new Killed();
    };
    return { lines: read, mode: 'record', append };
  }
}

const never = new Promise<never>(() => {});
const keys = ['a', 'b', 'c'] as const;

/** What is different from case to case. */
interface Scene {
  readonly seed: number;
  /** Of a thousand runs or undos, how many throw: before they do anything, or after. */
  readonly throwing: number;
  readonly concurrency: number;
  readonly isLying: boolean;
}

function toolsOf(ask: Witnessing, { throwing, isLying }: Scene, luck: Random) {
  const perhaps = async (act: () => Promise<unknown>): Promise<void> => {
    const when = luck.integer(1000) < throwing ? 1 + luck.integer(2) : 0;
    if (when === 1) throw new Error('It broke before.');
    await act();
    if (when === 2) throw new Error('It broke after.');
  };
  return (tool: any) => ({
    set: tool({
      input: z.object({ key: z.string(), value: z.string() }),
      effect: 'reversible',
      remember: (_: JsonValue, { key }: any) => ask({ op: 'get', key }),
      run: async (_: JsonValue, { key, value }: any) => {
        await perhaps(() => ask({ op: 'set', key, value }));
        return value;
      },
      undo: (_: JsonValue, { key }: any, { remembered }: any) =>
        perhaps(() =>
          remembered === null ? ask({ op: 'remove', key }) : ask({ op: 'set', key, value: remembered }),
        ),
    }),
    add: tool({
      input: z.object({ value: z.string() }),
      effect: 'reversible',
      run: async (_: JsonValue, { value }: any, { id }: any) => {
        await perhaps(() => ask({ op: 'set', key: `items/${id}`, value }));
        return 'added';
      },
      undo: (_: JsonValue, __: any, ___: any, { id }: any) =>
        perhaps(() => ask({ op: 'remove', key: `items/${id}` })),
    }),
    get: tool({
      input: z.object({ key: z.string() }),
      effect: 'read',
      run: (_: JsonValue, { key }: any) => ask({ op: 'get', key }),
    }),
    list: tool({
      input: z.object({}),
      effect: 'read',
      run: () => ask({ op: 'list', prefix: 'items/' }),
    }),
    note: tool({
      input: z.object({ value: z.string() }),
      effect: 'pure',
      run: (notes: string[], { value }: any) => ({ state: [...notes, value], output: notes.length }),
    }),
    mail: tool({
      input: z.object({ text: z.string() }),
      effect: 'irreversible',
      predict: (notes: string[], { text }: any) => ({ output: isLying ? 'lies' : `sent ${text}`, state: [...notes, text] }),
      run: async (_: JsonValue, { text }: any, { id }: any) => {
        await perhaps(() => ask({ op: 'send', id, text }));
        return `sent ${text}`;
      },
    }),
    call: tool({
      input: z.object({ text: z.string() }),
      effect: 'irreversible',
      run: async (_: JsonValue, { text }: any, { id }: any) => {
        await perhaps(() => ask({ op: 'send', id, text }));
        return 'called';
      },
    }),
  });
}

function actionFrom(random: Random): Action {
  const value = `v${random.integer(4)}`;
  const key = keys[random.integer(keys.length)] ?? 'a';
  const text = `m${random.integer(3)}`;
  const all: readonly Action[] = [
    { tool: 'set', input: { key, value } },
    { tool: 'set', input: { key, value } },
    { tool: 'add', input: { value } },
    { tool: 'get', input: { key } },
    { tool: 'list', input: {} },
    { tool: 'note', input: { value } },
    { tool: 'mail', input: { text } },
    { tool: 'call', input: { text } },
  ];
  return all[random.integer(all.length)] as Action;
}

/** What a call does to the world, done once and by hand. */
async function byHand(ask: Witnessing, calls: readonly Action[]): Promise<JsonValue> {
  for (const [place, { tool, input }] of calls.entries()) {
    const { key = '', value = '', text = '' } = input as Record<string, string>;
    if (tool === 'set') await ask({ op: 'set', key, value });
    else if (tool === 'add') await ask({ op: 'set', key: `items/${place}`, value });
    else await ask({ op: 'send', id: String(place), text });
  }
  return ask({ op: 'dump' });
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
      const ask: Witnessing = async (asked) => {
        if (!process.step()) return never;
        const answer = await this.#ask(asked);
        return process.step() ? answer : never;
      };
      const tools = toolsOf(ask, this.#scene, random.split('luck'));
      const world = toolWorld([], { name: 'world', tools, journal });
      const working = work(world, journal);
      working.catch(() => {});
      const end = await Promise.race([process.death, working.then((value) => ({ value }))]);
      if (end !== 'killed' && !process.isDead) return end.value;
      this.#tally.kills += 1;
    }
  }

  async run(): Promise<void> {
    const { seed, concurrency } = this.#scene;
    for (const key of keys.slice(0, 2)) await this.#ask({ op: 'set', key, value: `old ${key}` });
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
    if (!same(before, after)) this.#fault(`the world was ${JSON.stringify(before)} and is ${JSON.stringify(after)}`);
    await this.#commit(tree);
  }

  async #commit(tree: SearchTree<State, Action>): Promise<void> {
    const random = this.#random.split('commit');
    const nodes = [...tree.nodes()].filter(({ kind }) => kind === 'realised');
    const deep = nodes.toSorted((a, b) => b.depth - a.depth).slice(0, 6);
    const node = deep[random.integer(deep.length)] ?? tree.root;
    if (node.kind === 'proposed') return;
    const planned = node.state.calls.filter(
      ({ effect, fate }) => fate !== 'failed' && (effect === 'reversible' || effect === 'irreversible'),
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
    if (process.env['SHOW']) { console.log(JSON.stringify(committed,null,1)); this.#disk.show(); }
    const world = await this.#ask({ op: 'dump' });
    const { done, notDone, status } = committed;
    if (done.length + notDone.length !== planned.length) this.#fault(`${planned.length} planned, ${done.length} done, ${notDone.length} not`);
    if (status === 'committed' && notDone.length > 0) this.#fault('committed, and not all is done');
    const { throwing, isLying } = this.#scene;
    if (throwing === 0 && !isLying && status !== 'committed' && status !== 'unknown') {
      this.#fault(`nothing went wrong, and it ended ${status}: ${committed.message}`);
    }
    const start = async () => {
      const other = new Witness();
      for (const key of keys.slice(0, 2)) other.ask({ op: 'set', key, value: `old ${key}` });
      return async (asked: Asked) => other.ask(asked);
    };
    const expected = [await byHand(await start(), done)];
    if (status === 'unknown') expected.push(await byHand(await start(), [...done, ...notDone.slice(0, 1)]));
    if (!expected.some((one) => same(one, world))) {
      this.#fault(`after ${status} (${committed.message}) the world is ${JSON.stringify(world)} and not ${JSON.stringify(expected)}`);
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

/** Runs cases, each on a witness of its own. */
export async function fuzzWorlds(seeds: Iterable<number>): Promise<Tally> {
  const tally: Tally = { cases: 0, kills: 0, ends: {}, faults: [] };
  for (const seed of seeds) {
    const witness = new Witness();
    await new Case(seed, tally, async (asked) => witness.ask(asked)).run();
    const sends = sendsIn(witness.log);
    if (sends !== undefined) tally.faults.push(`seed ${seed}: ${sends}`);
    tally.cases += 1;
  }
  return tally;
}
