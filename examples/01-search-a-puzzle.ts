/** Solves a Game of 24 with Monte-Carlo tree search: a small language model proposes steps and judges states. */
import { mcts, renderTree, search, solved } from 'espalier';
import { languageModel } from 'espalier/backends';
import { gameOf24 } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { judge } from 'espalier/values';

const model = await languageModel('tiny'); // or 'ollama:qwen3', 'anthropic:claude-haiku-5-5'
const environment = gameOf24.environment(gameOf24.parse('4 9 10 13'));
const { tree, stopReason, spend } = await search(environment, {
  policy: fromModel({ model, maxTokens: 24 }),
  evaluator: judge({ model }),
  algorithm: mcts({ evaluate: 'all' }),
  budget: { tokens: 4_000 },
  stopWhen: solved(),
});
console.log(`${stopReason} after ${spend.calls} calls, ${spend.tokens} tokens`);
console.log(renderTree(tree, { format: environment.notation.format, depth: 1 }));
