import { basename } from 'node:path';
import { Command } from 'commander';
import { EspalierError } from '../base/errors.ts';
import { readOmegaPrm } from '../data/readers/omega-prm.ts';
import { readToolBench } from '../data/readers/tool-bench.ts';
import type { TreeRecord } from '../data/record.ts';
import { readRun } from '../runs/index.ts';
import { readInput } from '../runs/input-file.ts';
import { recordsOf } from '../runs/run-records.ts';
import { type DatasetSource, describeDataset, isLeftOut, makeDataset } from './dataset.ts';
import { addDatasetOptions, type DatasetRequest } from './dataset-options.ts';
import { pairsOf } from './methods.ts';
import { print } from './output.ts';
import { wordOption } from './values.ts';

/** What `espalier export` was asked for. */
export interface ExportRequest extends DatasetRequest {
  readonly from: 'omegaprm' | 'run' | 'toolbench';
  readonly json?: boolean;
}

/** The command without its action. */
export function exportCommand(): Command {
  const command = new Command('export')
    .description('Make a dataset of trees that are there already: free of charge.')
    .argument('<sources...>', 'a run folder; with --from, files of trees that others grew')
    .option(
      '--from <kind>',
      'run, toolbench (DFSDT trees, a file each), omegaprm (JSON lines)',
      wordOption('from', ['run', 'toolbench', 'omegaprm']),
      'run',
    )
    .option('--json', 'print the result as one JSON document');
  return addDatasetOptions(command).addHelpText(
    'after',
    [
      '',
      'Example: espalier export runs/agent-q --rule math-shepherd --format trl --out data/prm',
      'Example: espalier export answers/*.json --from toolbench --rule tool-preference \\',
      '           --format trl-tools --out data/tools',
    ].join('\n'),
  );
}

/** Runs `espalier export`. Resolves to the exit code. */
export async function runExportCommand(
  sources: readonly string[],
  request: ExportRequest,
): Promise<number> {
  const source = sourceOf(sources, request);
  const report = await makeDataset(request, {
    ...source,
    source: sources.map((path) => basename(path)).join(', '),
  });
  const shown = [describeDataset(report), ...(source.note === undefined ? [] : [source.note])];
  print(request.json === true ? JSON.stringify(report, undefined, 2) : shown.join('\n'));
  return isLeftOut(report) ? 1 : 0;
}

function sourceOf(
  sources: readonly string[],
  { from, notation }: ExportRequest,
): Omit<DatasetSource, 'source' | 'spend'> {
  switch (from) {
    case 'toolbench':
      return { problems: toolBench(sources), defaultRule: 'tool-preference', delimiter };
    case 'omegaprm':
      return {
        problems: omegaPrm(sources),
        defaultRule: 'omega-prm',
        note: rightOnly,
        delimiter,
      };
    case 'run': {
      const [path = '', ...more] = sources;
      if (more.length > 0) {
        throw new EspalierError('usage', `Expected one run folder, got ${sources.length}.`);
      }
      const saved = readRun(path);
      return { problems: recordsOf(path, saved, notation), defaultRule: pairsOf(saved.run) };
    }
  }
}

/** Steps of these files hold empty lines, which cannot tell a reward model where a step ends. */
const delimiter = '\n\n\n\n\n';

const rightOnly =
  'OmegaPRM files list the rollouts that went right and no others: step labels are the recorded estimates, and whole paths are nearly all right.';

function* toolBench(paths: readonly string[]): Generator<readonly TreeRecord[]> {
  for (const path of paths) {
    const problem = basename(path).replace(/\.json$/, '');
    yield [
      readToolBench(readInput(path), { problem }),
    ] as readonly unknown[] as readonly TreeRecord[];
  }
}

function* omegaPrm(paths: readonly string[]): Generator<readonly TreeRecord[]> {
  for (const path of paths) {
    const trees = readOmegaPrm(readInput(path)) as readonly unknown[] as readonly TreeRecord[];
    for (const problem of new Set(trees.map((tree) => tree.problem))) {
      yield trees.filter((tree) => tree.problem === problem);
    }
  }
}
