/** Searches over changes to a SQL database: savepoints take the branches back, and `commit` keeps the best of them. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { bestFirst, renderTree, search, solved } from 'espalier';
import { memoryJournal } from 'espalier/calls';
import { type ToolState, toolEnvironment } from 'espalier/environments';
import { callTools } from 'espalier/policies';
import { scriptedModel } from 'espalier/testing';
import { heuristic } from 'espalier/values';
import * as z from 'zod';

const db = await PGlite.create();
await db.exec(`
  CREATE TABLE halls (name text PRIMARY KEY, pallets int CHECK (pallets BETWEEN 0 AND 26));
  INSERT INTO halls VALUES ('north', 25), ('south', 0), ('east', 5);
`);

/** How many pallets each hall holds. */
async function stock(database = db): Promise<Record<string, number>> {
  const { rows } = await database.query<{ name: string; pallets: number }>('SELECT * FROM halls');
  return Object.fromEntries(rows.map(({ name, pallets }) => [name, pallets]).sort());
}

/** A statement with its parameters. */
type Statement = [sql: string, ...params: (string | number)[]];

/**
 * The database as branches see it: one transaction with a savepoint before each statement. Savepoints are a stack, so a
 * state on another path is restored by going back to what both paths have, and doing the rest again. That needs
 * statements that always do the same: no clock, no random numbers, no sequences.
 */
class Branches {
  #done: Statement[] = [];

  /** Where the statement fails, the search gives this transaction up. */
  async change(...[sql, ...params]: Statement): Promise<void> {
    await db.exec(`SAVEPOINT s${this.#done.length}`);
    await db.query(sql, params);
    this.#done.push([sql, ...params]);
  }

  snapshot = (): Statement[] => [...this.#done];

  async restore(snapshot: Statement[]): Promise<void> {
    const apart = this.#done.findIndex((one, place) => !isDeepStrictEqual(one, snapshot[place]));
    if (apart >= 0) {
      await db.exec(`ROLLBACK TO SAVEPOINT s${apart}`);
      this.#done = this.#done.slice(0, apart);
    }
    for (const statement of snapshot.slice(this.#done.length)) await this.change(...statement);
  }

  fingerprint = async (): Promise<string> => JSON.stringify(await stock());
  /** What `approve` is shown. */
  changes = this.snapshot;
  /** The transaction stands as the path does. A process that is killed takes it along: nothing is left to take back. */
  publish = async (): Promise<void> => void (await db.exec('COMMIT'));
  close = async (): Promise<void> => void (await db.exec('ROLLBACK'));
}

const begin = async () => {
  await db.exec('BEGIN');
  return new Branches();
};
await using halls = toolEnvironment(begin, {
  name: 'halls',
  task: 'Move pallets until each hall holds 10.',
  tools: (tool) => ({
    move: tool({
      input: z.object({ from: z.string(), to: z.string(), pallets: z.int().min(1) }),
      effect: 'reversible',
      async run(branches, { from, to, pallets }) {
        const change = 'CASE name WHEN $1 THEN -$3::int ELSE $3::int END';
        const sql = `UPDATE halls SET pallets = pallets + ${change} WHERE name IN ($1, $2)`;
        await branches.change(sql, from, to, pallets);
        return stock();
      },
    }),
  }),
  done: async () => Object.values(await stock()).every((pallets) => pallets === 10),
});

// What a model would propose. The database itself refuses what a hall does not have, or cannot hold.
const moves = ['south east 5', 'east north 5', 'north south 15', 'north east 5', 'south north 5'];
const model = scriptedModel({
  capabilities: { n: true, tools: true },
  answer(_, index) {
    const [from = '', to = '', pallets] = (moves[index % moves.length] ?? '').split(' ');
    const call = { name: 'move', input: { from, to, pallets: Number(pallets) } };
    return { text: '', finishReason: 'tool', toolCalls: [{ id: `move-${index}`, ...call }] };
  },
});

const { tree, best } = await search(halls, {
  policy: callTools({ model, samples: moves.length }),
  evaluator: heuristic(
    ({ turns }: ToolState) => ((turns.at(-1)?.content.match(/:10\b/g)?.length ?? 0) + 0.5) / 4,
  ),
  algorithm: bestFirst({ maxDepth: 4 }),
  budget: { simulations: 30 },
  stopWhen: solved(),
});
assert.equal(best.reward, 1);
console.log(renderTree(tree, { format: ({ input }) => Object.values(input).join(' '), width: 80 }));

/** What somebody sees who opens the files of the database: what is committed, and nothing of a transaction. */
async function witness() {
  const copy = await PGlite.create({ loadDataDir: await db.dumpDataDir('none') });
  return stock(copy).finally(() => copy.close());
}

assert.deepEqual(await witness(), { north: 25, south: 0, east: 5 });
const approve = () => true; // is given the statements as `changes`, and would show them to a person
const { status } = await halls.commit(tree, { journal: memoryJournal(), approve });
assert.equal(status, 'committed');
assert.deepEqual(await witness(), { north: 10, south: 10, east: 10 });
