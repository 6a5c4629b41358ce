import { fuzzWorlds } from '../promises/world-fuzz.ts';
const [,, from='0', to='100'] = process.argv;
const t = Date.now();
for (let f = +from; f < +to; f += 20) {
const tally = await fuzzWorlds(Array.from({length: Math.min(20, +to - f)}, (_, i) => f + i));
console.log(f, tally.cases, tally.kills, tally.ends, tally.faults.length, Date.now()-t,'ms'); console.log(tally.faults.slice(0,8).join('\n'));
}
process.exit(0);
