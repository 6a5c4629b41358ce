/**
 * Logs of a benchmark, read by Inspect AI itself. It comes from the registry of Python, into a folder of its own, some 330
 * MB; where that cannot be reached, this is skipped.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspectLogs } from '../../src/bench/inspect-log.ts';
import { exampleCells, exampleReport, exampleReports } from '../support/bench-reports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.tmp/inspect');
const python = join(folder, 'python/bin/python');

function run(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status === 0;
}

const reports = {
  usual: exampleReport({ problems: 20, seeds: 3 }),
  unpriced: exampleReport({ problems: 5, isPriced: false }),
  dollars: exampleReport({ problems: 5, budgets: [{ unit: 'usd', limit: 0.01 }] }),
  time: exampleReport({ problems: 5, budgets: [{ unit: 'ms', limit: 1_500 }] }),
  unscored: exampleReport({ problems: 5, isScored: false }),
  hostile: exampleReports['hostile'] ?? exampleReport(),
};

mkdirSync(folder, { recursive: true });
const install = ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', 'inspect-ai'];
if (!run('python3', ['-m', 'venv', join(folder, 'python')]) || !run(python, install)) {
  process.stdout.write('Skipped: Inspect AI could not be installed from the registry.\n');
} else {
  for (const [name, report] of Object.entries(reports)) {
    const place = join(folder, name);
    rmSync(place, { recursive: true, force: true });
    mkdirSync(join(place, 'logs'), { recursive: true });
    const cells = exampleCells(report);
    const logs = inspectLogs(report, cells, new Date('2026-11-20T10:00:00Z'));
    for (const { file, log } of logs) {
      writeFileSync(join(place, 'logs', file), JSON.stringify(log));
    }
    writeFileSync(
      join(place, 'cells.json'),
      JSON.stringify({ report, cells, files: logs.map(({ file }) => file) }),
    );
    if (!run(python, [join(root, 'tests/verify/inspect_log.py'), place])) process.exitCode = 1;
  }
}
