import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { EspalierError } from '../../base/errors.ts';
import { expectText } from '../../base/expect.ts';
import { expectRegularFile } from '../../base/regular-file.ts';
import { completeExport } from '../dataset-folder.ts';
import { type ColumnMapping, readDatasetInfo } from '../formats/dataset-info.ts';
import { declaredFiles } from '../front-matter.ts';
import { matchesPattern } from '../glob.ts';
import { escapeControls } from './excerpt.ts';

/** A file of a dataset. */
export interface DatasetFile {
  /** Its location. */
  readonly path: string;
  /** Its path within the dataset, with slashes. */
  readonly name: string;
  /** The configuration that it belongs to. */
  readonly config: string;
  /** The split that it belongs to. */
  readonly split: string;
  /** The entry by which LLaMA-Factory reads it. */
  readonly mapping?: ColumnMapping;
}

/**
 * The data files of a folder, or of one file: those that the card declares, else all, by their names.
 *
 * @throws EspalierError `usage` if nothing can be read.
 */
export function datasetFiles(path: string): readonly DatasetFile[] {
  expectText('path', path);
  if (!isFolder(path)) {
    const name = basename(path);
    const kind = unreadKind(name);
    if (kind !== undefined) throw unread(path, `is ${kind}`);
    return [{ path, name, config: 'default', split: splitOf(name) }];
  }
  completeExport(path);
  const all = fileNames(path, '');
  const names = all.filter((name) => dataFile.test(name));
  const mappings = readDatasetInfo(textOrNothing(join(path, 'dataset_info.json')));
  const files = declared(path, names) ?? byName(names);
  if (files.length === 0) {
    const kind = all.map(unreadKind).find((each) => each !== undefined);
    if (kind !== undefined) throw unread(path, `holds ${kind} alone`);
    throw new EspalierError(
      'usage',
      `Expected \`${escapeControls(path)}\` to hold data files (.jsonl, .json, .jsonl.gz, .parquet), got none.`,
    );
  }
  return files.map((file) => {
    const mapping = mappings.get(file.name);
    return { ...file, path: join(path, file.name), ...(mapping && { mapping }) };
  });
}

/**
 * What lies beside the data files of a folder, or among those that the card declares, and is data of a kind that is not
 * read, such as CSV.
 */
export function unreadFiles(path: string): readonly Readonly<Record<'kind' | 'name', string>>[] {
  if (!isFolder(path)) return [];
  const names = fileNames(path, '').filter((name) => unreadKind(name) !== undefined);
  const files = declared(path, fileNames(path, '')) ?? byName(names);
  return files.flatMap(({ name }) => {
    const kind = unreadKind(name);
    return kind === undefined ? [] : [{ name, kind }];
  });
}

type Named = Omit<DatasetFile, 'mapping' | 'path'>;

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (cause) {
    const message = `Expected \`${escapeControls(path)}\` to be a file or a folder that can be read. Check the path.`;
    throw new EspalierError('usage', message, { cause });
  }
}

const dataFile = /\.(?:(?:jsonl|ndjson|json)(?:\.gz)?|parquet)$/i;
const notData: readonly string[] = ['dataset_info.json', 'dataset_infos.json'];

/** What data of other kinds is called, by the endings of its files. */
const unreadKinds: readonly (readonly [RegExp, string])[] = [
  [/\.[ct]sv(?:\.gz)?$/i, 'CSV'],
  [/\.(?:arrow|feather)$/i, 'Arrow'],
  [/\.(?:zip|tar|tgz|7z|zst|xz|bz2|tar\.gz)$/i, 'an archive'],
  [/\.(?:xlsx?|ods)$/i, 'a spreadsheet'],
];

function unreadKind(name: string): string | undefined {
  return unreadKinds.find(([ending]) => ending.test(name))?.[1];
}

function unread(path: string, is: string): EspalierError {
  return new EspalierError(
    'usage',
    `\`${escapeControls(path)}\` ${is}, which is not supported: write it as JSON lines, \`.gz\` or not, or as Parquet.`,
  );
}

function fileNames(root: string, folder: string): readonly string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .filter(({ name }) => !name.startsWith('.') && !notData.includes(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry): readonly string[] => {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? fileNames(root, name) : [name];
    });
}

function declared(root: string, names: readonly string[]): readonly Named[] | undefined {
  const groups = declaredFiles(textOrNothing(join(root, 'README.md')));
  const files = groups.flatMap(({ config, split, pattern }) =>
    names.filter((name) => matchesPattern(name, pattern)).map((name) => ({ name, config, split })),
  );
  return files.length === 0 ? undefined : files;
}

function byName(names: readonly string[]): readonly Named[] {
  return names.map((name) => ({
    name,
    // `data/` is where the Hub looks for files of the only configuration.
    config: /^(?!data\/)(.+?)\//.exec(name)?.[1] ?? 'default',
    split: splitOf(basename(name)),
  }));
}

const splits: Readonly<Record<string, string>> = {
  train: 'train',
  training: 'train',
  test: 'test',
  testing: 'test',
  eval: 'test',
  evaluation: 'test',
  validation: 'validation',
  valid: 'validation',
  val: 'validation',
  dev: 'validation',
};

/** The split in a file name, as the Hub reads it: a separate word. */
function splitOf(name: string): string {
  const words = name.toLowerCase().split(/[^a-z]+/);
  return words.map((word) => splits[word]).find((split) => split !== undefined) ?? 'train';
}

function textOrNothing(path: string): string {
  try {
    expectRegularFile(path);
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
