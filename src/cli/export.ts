import { basename } from 'node:path';
import { Command } from 'commander';
import { EspalierError } from '../base/errors.ts';
import { expectation } from '../base/expect.ts';
import { readOmegaPrm } from '../data/readers/omega-prm.ts';
import { readToolBench } from '../data/readers/tool-bench.ts';
import type { TreeRecord } from '../data/record.ts';
import { readRun } from '../runs/index.ts';
import { readInput } from '../runs/input-file.ts';
import { mixRuns } from '../runs/mix-runs.ts';
import { sourceFile } from '../runs/source-files.ts';
import { type DatasetSource, describeDataset, isLeftOut, makeDataset } from './dataset.ts';
import { expectRunFolder } from './dataset-conflicts.ts';
import { addDatasetOptions, type DatasetRequest } from './dataset-options.ts';
import { pairsOf } from './methods.ts';
import { print } from './output.ts';
import { adopted, environmentsOf } from './own-environments.ts';
import { loadParts, moduleOption, type OwnModules } from './own-parts.ts';
import { pushed, pushOf } from './push.ts';
import { wordOption } from './values.ts';

/** What `espalier export` was asked for. */
export interface ExportRequest extends DatasetRequest {
  readonly from: 'omegaprm' | 'run' | 'toolbench';
  readonly weight?: readonly number[];
  readonly environment?: string;
  readonly json?: boolean;
  readonly push?: string;
  readonly public?: boolean;
}

/** The command without its action. */
export function exportCommand(): Command {
  const command = new Command('export')
    .description('Make a dataset from saved trees (no model calls).')
    .argument('<sources...>', 'run folders; with --from, files of trees grown elsewhere')
    .option(
      '--from <kind>',
      'run, toolbench (DFSDT trees, a file each), omegaprm (JSON lines)',
      wordOption('from', ['run', 'toolbench', 'omegaprm']),
      'run',
    )
    .option(
      '--weight <shares>',
      'for several runs: the share of the problems to take from each, such as 1,0.25 (default: all)',
      weightOption,
    )
    .option(
      '--environment <file>',
      'for runs made with it: the same module, whose notation is used for the rows',
      moduleOption,
    )
    .option('--json', 'print the result as one JSON document')
    .option(
      '--push <repo>',
      'upload the dataset to the Hugging Face Hub as owner/name, with the access token in HF_TOKEN; HF_ENDPOINT names another Hub',
    )
    .option('--public', 'with --push: create a public repository (default: private)');
  return addDatasetOptions(command).addHelpText(
    'after',
    [
      '',
      'Example: espalier export runs/agent-q --rule math-shepherd --format trl --out data/prm',
      'Example: espalier export runs/agent-q runs/beam --weight 1,0.25 --exact-split --split train=0.9,test=0.1 \\',
      '           --out data/mixed',
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
  const push = pushOf(request);
  await using own = await loadParts(request);
  const source = await sourceOf(sources, request, own);
  const report = await makeDataset(request, {
    ...source,
    source: sources.map((path) => basename(path)).join(', '),
  });
  const shown = [
    describeDataset(report, request),
    ...(source.note === undefined ? [] : [source.note]),
  ];
  print(request.json === true ? JSON.stringify(report, undefined, 2) : shown.join('\n'));
  if (isLeftOut(report)) return 1;
  if (push !== undefined) await pushed(push);
  return 0;
}

type Source = Omit<DatasetSource, 'source' | 'spend'>;

async function sourceOf(
  sources: readonly string[],
  request: ExportRequest,
  own: OwnModules,
): Promise<Source> {
  if (request.from === 'run') return ofRuns(sources, request, own);
  if (request.weight !== undefined) {
    throw new EspalierError('usage', 'Expected `--weight` beside runs, got files of others.');
  }
  return request.from === 'toolbench'
    ? {
        ...named(() => toolBench(sources)),
        files: sources.map((path) => sourceFile(path, 'ToolBench, DFSDT')),
        defaultRule: 'tool-preference',
        delimiter,
      }
    : {
        ...named(() => omegaPrm(sources)),
        files: sources.map((path) => sourceFile(path, 'OmegaPRM')),
        defaultRule: 'omega-prm',
        note: rightOnly,
        delimiter,
      };
}

async function ofRuns(
  paths: readonly string[],
  { notation, splitSeed, weight }: ExportRequest,
  own: OwnModules,
): Promise<Source> {
  if (weight !== undefined && weight.length !== paths.length) {
    throw new EspalierError(
      'usage',
      `Expected \`--weight\` to have a share for each run, got ${weight.length} for ${paths.length}.`,
    );
  }
  const runs = [];
  for (const [place, path] of paths.entries()) {
    expectRunFolder(path);
    const saved = adopted(readRun(path), own);
    const environments = await environmentsOf(path, saved, own);
    runs.push({ path, saved, environments, share: weight?.[place] ?? 1 });
  }
  if (own.has('environment') && runs.every(({ environments }) => environments === undefined)) {
    const message = 'Expected no `--environment`: what these runs searched is known without it.';
    throw new EspalierError('usage', message);
  }
  const { names, records } = mixRuns(runs, {
    notation,
    ...(splitSeed !== undefined && { seed: splitSeed }),
  });
  return {
    problems: records,
    total: names.length,
    names: () => names,
    defaultRule: pairsOf(runs[0]?.saved.run),
  };
}

/** Files of others tell their problems when they are read: twice, where all names are wanted before. */
function named(
  read: () => Iterable<readonly TreeRecord[]>,
): Pick<DatasetSource, 'names' | 'problems'> {
  return {
    problems: read(),
    names: () => [...read()].flatMap(([first]) => (first === undefined ? [] : [first.problem])),
  };
}

function weightOption(text: string): readonly number[] {
  const shares = text.split(',').map(Number);
  if (shares.every((share) => share > 0 && share <= 1)) return shares;
  throw expectation('--weight', 'shares above 0 and at most 1, such as 1,0.25', text);
}

/** Steps of these files hold empty lines, which cannot tell a reward model where a step ends. */
const delimiter = '\n\n\n\n\n';

const rightOnly =
  'OmegaPRM files list the rollouts that went right and no others: step labels are the recorded estimates, and whole paths are nearly all right.';

/** Adds the name of the file to an error about one of many files. */
function inFile<Read>(path: string, read: () => Read): Read {
  try {
    return read();
  } catch (cause) {
    if (!EspalierError.isInstance(cause) || cause.message.includes(path)) throw cause;
    throw new EspalierError(cause.code, `\`${path}\`: ${cause.message}`, { cause });
  }
}

function* toolBench(paths: readonly string[]): Generator<readonly TreeRecord[]> {
  for (const path of paths) {
    const problem = basename(path).replace(/\.json(\.gz)?$/, '');
    yield [
      inFile(path, () => readToolBench(readInput(path), { problem })),
    ] as readonly unknown[] as readonly TreeRecord[];
  }
}

function* omegaPrm(paths: readonly string[]): Generator<readonly TreeRecord[]> {
  for (const path of paths) {
    const trees = inFile(path, () =>
      readOmegaPrm(readInput(path)),
    ) as readonly unknown[] as readonly TreeRecord[];
    for (const problem of new Set(trees.map((tree) => tree.problem))) {
      yield trees.filter((tree) => tree.problem === problem);
    }
  }
}
