import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { EspalierError } from '../base/errors.ts';
import { takeLock } from '../base/lock.ts';
import { makeFolder } from '../base/make-folder.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { declaredFiles } from './front-matter.ts';
import { codeSpan, prose } from './writers/markdown.ts';

/** A dataset that is being written beside the existing one. */
export interface DatasetFolder {
  /** Makes a folder for the files of a configuration, and returns its path. */
  configFolder(config: string): string;
  /** Replaces the existing dataset by the one written. */
  commit(readme: string): void;
  /** Deletes the files written, and the folder if it is new. The existing dataset stays. */
  abandon(): void;
}

/** The text in every card, and in no other file: by it an export recognises files that it may overwrite. */
export const cardMark = 'made by [espalier](https://www.npmjs.com/package/espalier)';

/** No glob of a dataset begins with a point. */
const partial = '.espalier-partial';
const ready = '.espalier-ready';
const lock = '.espalier-lock';
/** What versions before 0.1 left of the old dataset where they were killed. */
const replaced = '.espalier-replaced';
/** The files that an export makes. All others in its folders belong to the user, and are kept. */
const ownFile = /^(\w+(\.\w+)*-\d{5}-of-\d{5}\.(jsonl|jsonl\.gz|parquet)|dataset_info\.json)$/;

/** The key that distinguishes datasets. */
interface KnownConfig {
  readonly name: string;
  readonly rule: { readonly name: string };
  readonly form: { readonly name: string };
}

/**
 * Opens a folder for a dataset, as its only writer. What is written stands aside until `commit`: a process that is
 * killed before leaves the old dataset as it was. The commit is one rename; what a process that is killed behind it has
 * not put in place yet, {@link completeExport} does.
 *
 * @throws EspalierError `usage` if something stands there that no export wrote and this one would write over, or a
 * dataset of other configurations, rules or forms; `locked` where another process writes there; `storage` where the disk objects, here and later.
 */
export function datasetFolder(out: string, configs: readonly KnownConfig[]): DatasetFolder {
  const subject = `The folder \`${out}\``;
  const aside = join(out, partial);
  const made = withStorageErrors(subject, () => makeFolder(out));
  const release = takeLock(join(out, lock));
  const leave = () => {
    release();
    for (const folder of made.toReversed()) {
      if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
    }
  };
  try {
    withStorageErrors(subject, () => {
      putInPlace(out);
      expectOwn(out, configs);
      rmSync(aside, { recursive: true, force: true });
      mkdirSync(aside);
    });
  } catch (error) {
    leave();
    throw error;
  }
  return {
    configFolder(config) {
      const folder = join(aside, config);
      withStorageErrors(subject, () => makeFolder(folder));
      return folder;
    },
    commit(readme) {
      withStorageErrors(subject, () => {
        writeFileSync(join(aside, 'README.md'), readme);
        renameSync(aside, join(out, ready));
        putInPlace(out);
        rmSync(join(out, replaced), { recursive: true, force: true });
      });
      release();
    },
    abandon() {
      rmSync(aside, { recursive: true, force: true });
      leave();
    },
  };
}

/**
 * Completes an export whose process was killed when all was written and not yet all in place. Whoever reads a dataset
 * calls it before.
 *
 * @throws EspalierError `locked` where its process lives; `storage` if the disk objects.
 */
export function completeExport(out: string): void {
  if (!existsSync(join(out, ready))) return;
  const release = takeLock(join(out, lock));
  try {
    withStorageErrors(`The folder \`${out}\``, () => putInPlace(out));
  } finally {
    release();
  }
}

/** Only the card beside it distinguishes a shard of ours from others. */
function expectOwn(out: string, configs: readonly KnownConfig[]): void {
  const card = join(out, 'README.md');
  const isOurs = existsSync(card);
  if (isOurs && !isCard(card)) throw foreign(card);
  if (isOurs && !isCardOf(readFileSync(card, 'utf8'), configs)) {
    throw new EspalierError(
      'usage',
      `\`${out}\` holds another dataset, of other rules or forms, and this one would take its place. Choose another folder, or delete that one.`,
    );
  }
  const names = configs.map(({ name }) => name);
  expectFolders(out, names);
  for (const folder of names.map((name) => join(out, name))) {
    const shard =
      isOurs || !existsSync(folder)
        ? undefined
        : readdirSync(folder).find((name) => ownFile.test(name));
    if (shard !== undefined) throw foreign(join(folder, shard));
  }
}

/** Runs before anything is changed, because a link leads to a folder that is not ours. */
function expectFolders(out: string, names: readonly string[]): void {
  for (const path of names.map((name) => join(out, name))) {
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status?.isDirectory() === false) throw foreign(path);
  }
}

function isCard(path: string): boolean {
  return statSync(path).isFile() && readFileSync(path, 'utf8').includes(cardMark);
}

/** Whether a card lists exactly these configurations: each has a heading and below it its rule and form. */
function isCardOf(card: string, configs: readonly KnownConfig[]): boolean {
  const lines = card.split('\n');
  const places = lines.flatMap((line, place) =>
    line.startsWith('## ') && lines[place + 2]?.startsWith('Rule ') ? [place] : [],
  );
  const isThere = ({ name, rule, form }: KnownConfig) =>
    places.some((place) => {
      const told = lines[place + 2] ?? '';
      return (
        lines[place] === `## ${prose(name)}` &&
        told.startsWith(`Rule ${codeSpan(rule.name)}`) &&
        told.endsWith(`, form ${codeSpan(form.name)}.`)
      );
    });
  return places.length === configs.length && configs.every(isThere);
}

function foreign(path: string): EspalierError {
  return new EspalierError(
    'usage',
    `\`${path}\` was not written by espalier, and the dataset would take its place. Choose another folder.`,
  );
}

/**
 * Puts what is written in place, the card last: by the old one it is known until then which files are of the old
 * dataset. Each step can be done again, wherever a kill came in between.
 */
function putInPlace(out: string): void {
  const from = join(out, ready);
  if (!existsSync(from)) return;
  // Where its card is gone everything is in place, and only the empty folder was left.
  if (existsSync(join(from, 'README.md'))) {
    const coming = readdirSync(from).filter((name) => name !== 'README.md');
    expectFolders(out, coming);
    const comingConfigs = listedConfigs(from);
    for (const config of listedConfigs(out)) {
      if (!comingConfigs.has(config) && isFolder(join(out, config))) removeOwn(join(out, config));
    }
    for (const config of coming) {
      const [comes, is] = [join(from, config), join(out, config)];
      if (existsSync(is)) {
        keepOthers(is, comes);
        removeOwn(is);
      }
      renameSync(comes, is);
    }
    renameSync(join(from, 'README.md'), join(out, 'README.md'));
  }
  rmdirSync(from);
}

/** The configurations of the existing dataset: those that the card of an export lists, in its folders. */
function listedConfigs(out: string): ReadonlySet<string> {
  const card = join(out, 'README.md');
  if (!existsSync(card) || !isCard(card)) return new Set();
  const listed = declaredFiles(readFileSync(card, 'utf8'));
  return new Set(
    listed
      .filter(
        ({ config, pattern }) => /^\w[\w.-]*$/.test(config) && pattern.startsWith(`${config}/`),
      )
      .map(({ config }) => config),
  );
}

/** A link leads to a folder that is not ours. */
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function removeOwn(folder: string): void {
  for (const file of readdirSync(folder)) if (ownFile.test(file)) rmSync(join(folder, file));
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

/** Files that no export made go along. */
function keepOthers(from: string, to: string): void {
  for (const file of readdirSync(from)) {
    if (!ownFile.test(file)) renameSync(join(from, file), join(to, file));
  }
}
