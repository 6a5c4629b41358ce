import { basename } from 'node:path';
import { Command, Option } from 'commander';
import { EspalierError } from '../base/errors.ts';
import { ruleNamed } from '../data/catalogue.ts';
import { readOmegaPrm } from '../data/readers/omega-prm.ts';
import { readToolBench } from '../data/readers/tool-bench.ts';
import type { TreeRecord } from '../data/record.ts';
import { readRun } from '../runs/index.ts';
import { describeDataset, makeDataset } from './dataset.ts';
import { addDatasetOptions, type DatasetRequest } from './dataset-options.ts';
import { readInput } from './input-file.ts';
import { pairsOf } from './methods.ts';
import { print } from './output.ts';
import { recordsOf } from './run-records.ts';
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
    .addOption(
      new Option(
        '--from <kind>',
        'run, toolbench (DFSDT trees, a file each), omegaprm (JSON lines)',
      )
        .argParser(wordOption('from', ['run', 'toolbench', 'omegaprm']))
        .default('run'),
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
  const { problems, rule } = sourceOf(sources, request);
  const report = await makeDataset(request, {
    problems,
    defaultRule: rule,
    source: sources.map((path) => basename(path)).join(', '),
  });
  print(request.json === true ? JSON.stringify(report, undefined, 2) : describeDataset(report));
  return 0;
}

interface Source {
  readonly problems: Iterable<readonly TreeRecord[]>;
  /** The name of the rule where none is named. */
  readonly rule: string;
}

function sourceOf(
  sources: readonly string[],
  { from, notation, rule = ['omega-prm'] }: ExportRequest,
): Source {
  switch (from) {
    case 'toolbench':
      return { problems: toolBench(sources), rule: 'tool-preference' };
    case 'omegaprm': {
      const isLabels = rule.every((name) => ruleNamed(name)?.kind === 'stepwise');
      return {
        problems: omegaPrm(sources, isLabels ? labelDelimiter : undefined),
        rule: 'omega-prm',
      };
    }
    case 'run': {
      const [path = '', ...more] = sources;
      if (more.length > 0) {
        throw new EspalierError('usage', `Expected one run folder, got ${sources.length}.`);
      }
      const saved = readRun(path);
      return { problems: recordsOf(path, saved, notation), rule: pairsOf(saved.run) };
    }
  }
}

function* toolBench(paths: readonly string[]): Generator<readonly TreeRecord[]> {
  for (const path of paths) {
    const problem = basename(path).replace(/\.json$/, '');
    yield [
      readToolBench(readInput(path), { problem }),
    ] as readonly unknown[] as readonly TreeRecord[];
  }
}

/** Steps of OmegaPRM files hold empty lines, so that those cannot tell a reward model where a step ends. */
const labelDelimiter = '\n\n\n\n\n';

function* omegaPrm(
  paths: readonly string[],
  delimiter: string | undefined,
): Generator<readonly TreeRecord[]> {
  const options = delimiter === undefined ? {} : { delimiter };
  for (const path of paths) {
    const trees = readOmegaPrm(
      readInput(path),
      options,
    ) as readonly unknown[] as readonly TreeRecord[];
    for (const problem of new Set(trees.map((tree) => tree.problem))) {
      yield trees.filter((tree) => tree.problem === problem);
    }
  }
}
