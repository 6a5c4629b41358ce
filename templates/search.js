// Searches the world, draws the tree and saves it.
import { writeFileSync } from 'node:fs';
import { mcts, renderTree, search, treeToJson } from 'espalier';
import { environment, policy, value } from './world.js';

const { tree, solved, answer } = await search(environment, {
  policy,
  evaluator: value,
  algorithm: mcts({ evaluate: 'all' }),
  // The search goes on after the first solution: training data needs the steps that were worse, too.
  budget: { simulations: 100 },
});

console.log(renderTree(tree, { depth: 3, format: environment.notation.format }));
// `spend.simulations` may be one more: the last simulation can find nothing left to search.
console.log(`\n${solved ? 'Solved' : 'Not solved'} in ${tree.root.visits} simulations: ${answer}`);

writeFileSync('tree.json', JSON.stringify(treeToJson(tree, environment)));
console.log('Saved in tree.json. Next: npm run dataset');
