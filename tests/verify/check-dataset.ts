/**
 * `npm run verify:check-dataset [-- --gigabyte]`: flaws planted into good sets of every format, ten rows each, and what
 * `check-dataset` says of them: recall and false alarms. With `--gigabyte` also 1 GB of JSON lines: it fails from 60 s
 * of processor time or 400 MB of memory on.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../../src/base/table.ts';
import { goodSets, type SetName, textOf } from '../data/good-sets.ts';
import { auditSet, plant } from '../data/plant-flaws.ts';
import { flaws } from '../data/planted-flaws.ts';

const { values } = parseArgs({
  options: { gigabyte: { type: 'boolean', default: false } },
});
const most = { seconds: 60, megabytes: 400 };
const root = mkdtempSync(join(tmpdir(), 'espalier-check-'));

/** Writes 1 GB of pairs, of about a kilobyte each. */
function writeGigabyte(path: string): number {
  const file = openSync(path, 'w');
  let [bytes, rows] = [0, 0];
  while (bytes < 1e9) {
    const lines: string[] = [];
    for (let line = 0; line < 1000; line++, rows++) {
      const row = {
        prompt: `${textOf('question', rows, 60)}\n`,
        chosen: textOf('good', rows, 40 + (rows % 7)),
        rejected: textOf('bad', rows, 40 + ((rows + 3) % 7)),
        problem_id: `p-${rows >> 2}`,
        depth: rows % 8,
        margin: 0.505,
      };
      lines.push(`${JSON.stringify(row)}\n`);
    }
    bytes += writeSync(file, lines.join(''));
  }
  closeSync(file);
  return rows;
}

function measured(path: string): readonly string[] {
  const script = join(import.meta.dirname, '../../dist/data/index.js');
  const program = `const { auditDataset } = await import(${JSON.stringify(script)});
    const { sets, findings } = await auditDataset(${JSON.stringify(path)});
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    console.log(JSON.stringify([(userCPUTime + systemCPUTime) / 1e6, maxRSS / 1000, sets[0].rows, findings.map(({ code }) => code)]));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  const [seconds, megabytes, rows, codes] = JSON.parse(stdout) as [
    number,
    number,
    number,
    string[],
  ];
  if (seconds >= most.seconds || megabytes >= most.megabytes) process.exitCode = 1;
  return [
    `1 GB of JSON lines, ${rows.toLocaleString('en-US')} rows: ${seconds.toFixed(1)} s of processor time, ${megabytes.toFixed(0)} MB`,
    ...(codes.length === 0 ? [] : [`  found: ${codes.join(', ')}`]),
  ];
}

async function proof(): Promise<readonly string[]> {
  const names = Object.keys(goodSets) as readonly SetName[];
  const alarms: string[] = [];
  for (const name of names) {
    const { findings } = await auditSet(join(root, name), name);
    alarms.push(...findings.map(({ code }) => `${name}: ${code}`));
  }
  const results: Awaited<ReturnType<typeof plant>>[] = [];
  for (const [place, [name, flaw]] of Object.entries(flaws).entries()) {
    results.push(await plant(join(root, `flaw-${place}`), name, flaw));
  }
  const rows = results.map(({ name, code, found, of, falseAlarms }) => [
    name,
    code,
    `${found} of ${of}`,
    falseAlarms.join(', ') || '-',
  ]);
  const sum = (number: 'found' | 'of') => results.reduce((all, result) => all + result[number], 0);
  const besides = results.flatMap(({ falseAlarms }) => falseAlarms).length;
  if (sum('found') < sum('of') || alarms.length + besides > 0) process.exitCode = 1;
  return [
    table([['flaw', 'finding', 'found', 'said besides'], ...rows], { isLeft: true }),
    '',
    `${results.length} flaws: ${sum('found')} of ${sum('of')} found, recall ${(sum('found') / sum('of')).toFixed(3)}; ${besides} false alarms beside them.`,
    `${names.length} good sets: ${alarms.length} false alarms.`,
    ...alarms,
  ];
}

try {
  const lines = [...(await proof())];
  if (values.gigabyte) {
    const path = join(root, 'gigabyte.jsonl');
    writeGigabyte(path);
    lines.push(...measured(path));
  }
  process.stdout.write(`${lines.join('\n')}\n`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
