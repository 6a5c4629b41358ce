/** `npm run verify:data`: the order of our depth-first search beside that of ToolLLM's own recorded trees. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { depthFirst, type Environment, search } from 'espalier';

const folder = join(
  process.argv[2] ?? join(import.meta.dirname, '../../../shared/data'),
  'toolbench',
);

interface Recorded {
  /** The number of the turn that ends here; 0 inside a turn. */
  readonly expand_num: number;
  readonly pruned: boolean;
  readonly description: string;
  readonly children: readonly Recorded[];
}

/** One turn of the model: a thought, an action and its input, or some of these. */
interface Turn {
  readonly name: string;
  /** Whether it stands where paths had to end. */
  readonly isLast: boolean;
  readonly end: 'answer' | 'given up' | undefined;
  readonly turns: readonly Turn[];
}

let turns = 0;

function turnFrom(recorded: Recorded): Turn {
  let last = recorded;
  while (last.expand_num === 0 && turns > 0) last = last.children[0] as Recorded;
  const name = `turn ${turns++}`;
  const isFinish = last.description.includes('"return_type"');
  const given = last.description.includes('give_answer') ? 'answer' : 'given up';
  return {
    name,
    end: isFinish ? given : undefined,
    isLast: last.pruned,
    turns: last.children.map(turnFrom),
  };
}

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  turns = 0;
  const { tree } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
    tree: { tree: Recorded };
  };
  const start = turnFrom(tree.tree);
  const environment: Environment<Turn, string> = {
    name: 'recorded',
    reset: () => ({ state: start }),
    step(state, action) {
      const next = state.turns.find(({ name }) => name === action);
      assert.ok(next !== undefined);
      if (next.end === undefined) return { state: next };
      return { state: next, terminal: true, reward: next.end === 'answer' ? 1 : 0 };
    },
  };
  const proposed: string[] = [];
  let vain = 0;
  const { stopReason } = await search(environment, {
    policy: {
      propose: ({ state, children }) => {
        const next = state?.turns[children.length];
        if (next === undefined && state?.isLast === false) vain++;
        else if (next !== undefined) proposed.push(next.name);
        return next === undefined ? [] : [{ action: next.name }];
      },
    },
    algorithm: depthFirst({ maxDepth: 64 }),
  });
  // The names count the turns in the order in which they stand in the file: parents before children, older ones first.
  const order = Array.from({ length: turns - 1 }, (_, index) => `turn ${index + 1}`);
  assert.deepEqual(proposed, order, file);
  process.stdout.write(
    `${file}: ${proposed.length} turns proposed in the recorded order, ${vain} asked for in vain, ${stopReason}\n`,
  );
}
