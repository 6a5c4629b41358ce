// Writes the states that the demo's tree search meets on held-out puzzles of Game of 24, for `espalier doctor --judge`:
// those with two numbers left, those with three, and of these the ones that follow from no puzzle that was learnt.
// `make -C training tiny` runs it on the built package, whose model it measures.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { tiny } from 'espalier/backends/tiny';
import {
  type ArithmeticState,
  gameOf24,
  type Rational,
  solvablePuzzles,
} from 'espalier/environments';
import { isHeldOut } from '../../../src/backends/tiny/held-out.ts';
import { demoMethods, solveGame } from '../../../src/cli/demo-methods.ts';
import { Truth } from './arithmetic.ts';
import { gamesOf24 } from './families.ts';

const { values } = parseArgs({
  options: {
    tokens: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '0' },
    out: { type: 'string', default: fileURLToPath(new URL('../build/met', import.meta.url)) },
  },
});
const environment = gameOf24.environment({ numbers: [1, 2, 3, 4] });
const { actions, step, key, notation } = environment;
const truth = new Truth(environment);

type State = ArithmeticState<Rational>;

/** The states with three numbers to which the puzzles lead that the model learnt from. */
function learnt(): ReadonlySet<string> {
  const starts = gamesOf24('train').map(
    (numbers) => gameOf24.environment({ numbers }).reset().state,
  );
  return new Set(
    starts.flatMap((state) => actions(state).map((action) => key(step(state, action).state))),
  );
}

/** Each state that searches met, once, with the first puzzle that led to it. */
async function met(): Promise<readonly { readonly state: State; readonly problem: string }[]> {
  await using model = tiny({ seed: Number(values.seed) });
  const states = new Map<string, { readonly state: State; readonly problem: string }>();
  const puzzles = solvablePuzzles().map(({ numbers }) => ({
    numbers,
    problem: gameOf24.format({ numbers }),
  }));
  for (const { numbers, problem } of puzzles.filter((puzzle) => isHeldOut(puzzle.problem))) {
    const { tree } = await solveGame({
      ...{ model, method: demoMethods.mcts, numbers, stopped: () => false },
      budget: { tokens: Number(values.tokens) },
      seed: `${values.seed}/${problem}`,
    });
    for (const { kind, state } of tree.nodes()) {
      if (kind !== 'realised' || state.numbers.length < 2 || states.has(key(state))) continue;
      states.set(key(state), { state, problem });
    }
  }
  return [...states.values()];
}

const known = learnt();
const found = await met();
const files: Readonly<Record<string, (state: State) => boolean>> = {
  two: ({ numbers }) => numbers.length === 2,
  three: ({ numbers }) => numbers.length === 3,
  unseen: (state) => state.numbers.length === 3 && !known.has(key(state)),
};
mkdirSync(values.out, { recursive: true });
for (const [name, belongs] of Object.entries(files)) {
  const lines = found
    .filter(({ state }) => belongs(state))
    .map(({ state, problem }) => {
      const asked = notation
        .prompt(state)
        .map(({ content }) => content)
        .join('\n\n');
      return JSON.stringify({ state: asked, good: truth.solvable(state), problem });
    });
  writeFileSync(join(values.out, `${name}.jsonl`), `${lines.join('\n')}\n`);
  process.stdout.write(`${lines.length} states in ${name}.jsonl\n`);
}
