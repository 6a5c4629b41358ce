/**
 * Kills searches at every part of their journals and goes on with them: `npm run verify:resume [-- <resumes> [<seed>]]`.
 * Fails where one of them overspends, hangs, tells another sum than its journal, repeats an effect, or replays to
 * another tree.
 */
import { fuzz } from '../promises/resume-fuzz.ts';

const [resumes = '3000', seed = '1'] = process.argv.slice(2);
const startedAt = performance.now();
const { examples, ...counts } = await fuzz(Number(seed), { resumes: Number(resumes) });
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
process.stdout.write(`${JSON.stringify(counts, undefined, 2)}\n${seconds} s\n`);
for (const example of examples) process.stdout.write(`${example}\n`);
const { runs: _runs, resumes: _resumes, ...faults } = counts;
process.exitCode = Object.values(faults).some((count) => count > 0) ? 1 : 0;
