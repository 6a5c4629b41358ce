/**
 * Small budgets of tokens: `npm run verify:budgets [-- <searches> [<puzzles>]]`. Searches with random budgets, at
 * random concurrency, by models of which every other one counts its prompts: none may spend more than it has, and of some the journal is
 * replayed, and gone on with after a cut. Then how much of a budget the toy model's unsolved searches use, with its
 * counts, and by what earlier prompts were. Fails where one of the promises is broken.
 */
import { tiny } from '../../src/backends/tiny/index.ts';
import { unseenGames } from '../../src/bench/tasks/game24.ts';
import { memoryJournal, replayed } from '../../src/calls/index.ts';
import type { Journal } from '../../src/calls/journal.ts';
import { demoMethods } from '../../src/cli/demo-methods.ts';
import { gameOf24 } from '../../src/environments/index.ts';
import {
  beam,
  bestOfN,
  type LanguageModel,
  mcts,
  search,
  seededRandom,
  solved,
  treeToJson,
} from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { judge } from '../../src/values/index.ts';

const [searches = '10000', puzzles = '100'] = process.argv.slice(2);
const print = (line: string) => process.stdout.write(`${line}\n`);

/** The tokens of a prompt: those of a model that counts are as long as short budgets hold a few of. */
function tokensOf(messages: readonly { readonly content: string }[], perCharacter: number): number {
  return messages.reduce((sum, { content }) => sum + Math.ceil(perCharacter * content.length), 0);
}

/** A search of its own for each seed; answers come in another order each time. */
function searchOf(seed: number, journal: Journal) {
  const random = seededRandom('budgets').split(seed);
  const algorithm = [mcts(), bestOfN(), beam({ width: 3 })][random.integer(3)] ?? mcts();
  const tokens = 50 + random.integer(4951);
  const concurrency = 1 + random.integer(16);
  const counts = seed % 2 === 0;
  const perCharacter = counts ? 5 : 1 / (1 + (seed % 5));
  const scripted = scriptedModel({
    answer: hashedAnswer,
    usage: ({ messages }, { length }) => {
      const inputTokens = tokensOf(messages, perCharacter);
      return { inputTokens, outputTokens: length * (1 + (inputTokens % 16)) };
    },
  });
  const model: LanguageModel = {
    ...scripted,
    async generate(request, call) {
      for (let turns = Math.floor(Math.random() * 4); turns > 0; turns--) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      return scripted.generate(request, call);
    },
    ...(counts && { count: async ({ messages }) => tokensOf(messages, perCharacter) }),
  };
  const problem = throughModel(syntheticTree({ branching: 4, depth: 8 }), { model });
  const { environment, ...parts } = problem;
  const options = { ...parts, algorithm, concurrency, budget: { tokens }, seed, journal };
  return { tokens, result: search(environment, options) };
}

async function randomBudgets(count: number): Promise<number> {
  let over = 0;
  let others = 0;
  let repeated = 0;
  for (let seed = 0; seed < count; seed++) {
    const journal = memoryJournal();
    const { tokens, result } = searchOf(seed, journal);
    const live = await result;
    if (live.spend.tokens > tokens || live.overdraft.tokens > 0) over += 1;
    if (seed % 20 !== 0) continue;
    repeated += 1;
    const summary = JSON.stringify([treeToJson(live.tree), live.spend.tokens, live.stopReason]);
    const again = await searchOf(seed, replayed(journal)).result;
    if (
      JSON.stringify([treeToJson(again.tree), again.spend.tokens, again.stopReason]) !== summary
    ) {
      others += 1;
    }
    const lines = journal.lines.slice(0, 2 + Math.floor(Math.random() * journal.lines.length));
    const cut = memoryJournal(lines);
    const resumed = await searchOf(seed, cut).result;
    if (resumed.spend.tokens > tokens) over += 1;
    const there = await searchOf(seed, replayed(cut)).result;
    if (JSON.stringify(treeToJson(there.tree)) !== JSON.stringify(treeToJson(resumed.tree))) {
      others += 1;
    }
  }
  print(`${count} searches: ${over} spent more than they had.`);
  print(`${repeated} of them replayed, cut and resumed: ${others} came to something else.`);
  return over + others;
}

async function usedBy(
  model: LanguageModel,
  { tokens, count }: { readonly tokens: number; readonly count: number },
): Promise<number> {
  const used: number[] = [];
  for (const numbers of unseenGames(0).slice(0, count)) {
    const { spend, ...result } = await search(gameOf24.environment({ numbers }), {
      policy: fromModel({ model, temperature: 0.7, maxTokens: 24 }),
      evaluator: judge({ model }),
      algorithm: demoMethods.mcts.algorithm,
      budget: { tokens },
      stopWhen: [solved()],
      seed: 1,
    });
    if (!result.solved) used.push(spend.tokens / tokens);
  }
  const mean = used.reduce((sum, share) => sum + share, 0) / used.length;
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  print(
    `${tokens} tokens, ${'count' in model ? 'counted' : 'not counted'}: ${used.length} of ${count} unsolved, used ${percent(mean)} in the mean, ${percent(Math.min(...used))} at least.`,
  );
  return mean;
}

const faults = await randomBudgets(Number(searches));
await using model = tiny({ seed: 1 });
const { count: _, ...uncounted } = model;
let least = 1;
let leastUncounted = 1;
for (const tokens of [1000, 2000]) {
  const share = await usedBy(uncounted, { tokens, count: Number(puzzles) });
  leastUncounted = Math.min(leastUncounted, share);
  least = Math.min(least, await usedBy(model, { tokens, count: Number(puzzles) }));
}
process.exitCode = faults > 0 || least < 0.9 || leastUncounted < 0.75 ? 1 : 0;
