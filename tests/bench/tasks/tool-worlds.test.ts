import { describe, expect, test } from 'vitest';
import { taskNamed } from '../../../src/bench/tasks/tasks.ts';
import { type Call, type ToolTask, worldOf } from '../../../src/bench/tasks/tool-task.ts';
import { toolTasks } from '../../../src/bench/tasks/tool-worlds.ts';
import { plainContext } from '../../../src/testing/index.ts';

/** The calls of a shortest way to where a task is done, by trying all: nothing where there is none. */
function shortestWay(task: ToolTask): readonly Call[] | undefined {
  const open: { readonly db: unknown; readonly calls: readonly Call[] }[] = [
    { db: task.start, calls: [] },
  ];
  const seen = new Set([JSON.stringify(task.start)]);
  for (const { db, calls } of open) {
    if (task.isDone(db)) return calls;
    for (const call of task.calls) {
      const next = after(task, db, call);
      const key = JSON.stringify(next);
      if (!seen.has(key)) open.push({ db: next, calls: [...calls, call] });
      seen.add(key);
    }
  }
  return undefined;
}

function after(task: ToolTask, db: unknown, { tool, input }: Call): unknown {
  try {
    return task.refuses(tool, db) === undefined
      ? (task.tools[tool]?.does(db, input).state ?? db)
      : db;
  } catch {
    return db;
  }
}

test('every task can be done, and its world rewards that way and no part of it', async () => {
  for (const task of toolTasks('solvable', 15)) {
    const way = shortestWay(task);
    if (way === undefined) throw new Error(`No way: ${task.text}`);
    expect(way.length).toBeGreaterThan(2);
    let irreversible = 0;
    const world = worldOf(task, () => irreversible++);
    let transition = await world.reset(plainContext());
    for (const [place, { tool, input }] of way.entries()) {
      expect(transition.reward ?? 0).toBe(0);
      transition = await world.step(transition.state, { tool, input }, plainContext());
      expect(transition.terminal === true && transition.reward === 1).toBe(
        place === way.length - 1,
      );
    }
    expect(irreversible).toBe(0);
  }
});

describe.each(['shop', 'database'])('%s', (name) => {
  const listed = async (seed: number | string, limit = 12) => {
    const instances = await (await taskNamed(name)).instances({ seed, limit });
    const starts = instances.map(async ({ environment }) => {
      const { state } = await environment.reset(plainContext());
      return JSON.stringify(environment.notation?.prompt(state));
    });
    return { ids: instances.map(({ id }) => id), starts: await Promise.all(starts) };
  };

  test('has different ids, traps in every third round, and the same for the same seed', async () => {
    const { ids, starts } = await listed('a');
    expect(new Set(ids).size).toBe(12);
    expect(ids.filter((id) => id.endsWith('-with-traps')).length).toBeGreaterThan(2);
    expect(await listed('a')).toEqual({ ids, starts });
    expect((await listed('a', 4)).starts).toEqual(starts.slice(0, 4));
  });
});
