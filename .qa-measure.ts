import { isHeldOut } from './src/backends/tiny/held-out.ts';
import { tiny } from './src/backends/tiny/index.ts';
import { gameOf24, solvablePuzzles } from './src/environments/index.ts';
import { fromModel } from './src/policies/from-model/from-model.ts';
import { judge } from './src/values/judge/judge.ts';
import { search } from './src/search/search.ts';
import { solved } from './src/search/stop-conditions.ts';
import { memoryJournal } from './src/calls/journal.ts';
import { demoMethods } from './src/cli/demo-methods.ts';
const n = Number(process.argv[2] ?? 20);
const puzzles = solvablePuzzles().map(({ numbers }) => numbers).filter((numbers) => isHeldOut(gameOf24.format({ numbers }))).filter((_, i) => i % 3 === 0).slice(0, n);
const model = tiny({ seed: 1 });
let first = process.argv[3] === 'j';
for (const name of ['mcts', 'bestOfN'] as const) for (const tokens of [1000, 2000]) {
  const used: number[] = []; let ok = 0; const reasons: Record<string, number> = {}; let over = 0;
  for (const numbers of puzzles) {
    const journal = memoryJournal();
    const { spend, solved: s, stopReason, ...r } = await search(gameOf24.environment({ numbers }), {
      policy: fromModel({ model, temperature: demoMethods[name].temperature, maxTokens: Number(process.argv[4] ?? 48) }), evaluator: judge({ model }),
      algorithm: demoMethods[name].algorithm, budget: { tokens }, stopWhen: [solved()], seed: 1, journal });
    if (first) { for (const l of journal.lines) console.log(JSON.stringify(l).slice(0, 400)); first = false; }
    if (spend.tokens > tokens) over++;
    if (s) ok++; else { used.push(spend.tokens); reasons[stopReason] = (reasons[stopReason] ?? 0) + 1; }
  }
  used.sort((a,b)=>a-b);
  const mean = used.reduce((a, b) => a + b, 0) / used.length;
  console.log(name, tokens, 'solved', ok, 'unsolved', used.length, 'mean', mean.toFixed(0), 'share', (mean / tokens).toFixed(3), 'median', used[used.length>>1], 'min', used[0], JSON.stringify(reasons), 'over', over);
}
await model.close();
