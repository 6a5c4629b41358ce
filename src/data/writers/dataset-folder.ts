import {
  existsSync,
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
import { EspalierError } from '../../base/errors.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { withStorageErrors } from '../../base/with-storage-errors.ts';
import { cardMark } from './card.ts';

/** A dataset that is being written beside the one that stands there. */
export interface DatasetFolder {
  /** Makes a folder for the files of a configuration, and says where it is. */
  configFolder(config: string): string;
  /** Puts what was written in the place of what stood there. */
  commit(readme: string): void;
  /** Takes away what was written, and the folder where it was not there before. What stood there stays. */
  abandon(): void;
}

/** No glob of a dataset begins with a point. */
const partial = '.espalier-partial';
const replaced = '.espalier-replaced';
/** The files that an export makes: all others in its folders are somebody's own, and stay. */
const ownFile = /^(\w+(\.\w+)*-\d{5}-of-\d{5}\.(jsonl|jsonl\.gz|parquet)|dataset_info\.json)$/;

/**
 * Opens a folder for a dataset. What is written stands aside until `commit`, which exchanges whole configurations:
 * a process that is killed before leaves the old dataset as it was. One that is killed between the two renames of
 * the exchange leaves a configuration aside, which is put back here.
 *
 * @throws EspalierError `usage` where something stands there that no export wrote and this one would write over;
 * `storage` where the disk objects, here and later.
 */
export function datasetFolder(out: string, configs: readonly string[]): DatasetFolder {
  const subject = `The folder \`${out}\``;
  const aside = join(out, partial);
  const old = join(out, replaced);
  const made = withStorageErrors(subject, () => makeFolder(out));
  withStorageErrors(subject, () => {
    expectOwn(out, configs);
    restore(out, old);
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside);
  });
  return {
    configFolder(config) {
      const folder = join(aside, config);
      withStorageErrors(subject, () => makeFolder(folder));
      return folder;
    },
    commit(readme) {
      withStorageErrors(subject, () => {
        writeFileSync(join(aside, 'README.md'), readme);
        makeFolder(old);
        for (const config of configs) {
          exchange({ is: join(out, config), was: join(old, config), comes: join(aside, config) });
        }
        renameSync(join(aside, 'README.md'), join(out, 'README.md'));
        rmSync(old, { recursive: true, force: true });
        rmSync(aside, { recursive: true, force: true });
      });
    },
    abandon() {
      rmSync(aside, { recursive: true, force: true });
      for (const folder of made.toReversed()) {
        if (readdirSync(folder).length === 0) rmdirSync(folder);
      }
    },
  };
}

/** Nothing tells a shard of ours from others but the card beside it, or what an export leaves that was killed. */
function expectOwn(out: string, configs: readonly string[]): void {
  const card = join(out, 'README.md');
  const hasCard = existsSync(card);
  if (hasCard && !isCard(card)) throw foreign(card);
  const isOurs = hasCard || [partial, replaced].some((name) => existsSync(join(out, name)));
  for (const config of configs) {
    const folder = join(out, config);
    const status = statSync(folder, { throwIfNoEntry: false });
    if (status?.isDirectory() === false) throw foreign(folder);
    const shard =
      status === undefined || isOurs
        ? undefined
        : readdirSync(folder).find((name) => ownFile.test(name));
    if (shard !== undefined) throw foreign(join(folder, shard));
  }
}

function isCard(path: string): boolean {
  return statSync(path).isFile() && readFileSync(path, 'utf8').includes(cardMark);
}

function foreign(path: string): EspalierError {
  return new EspalierError(
    'usage',
    `\`${path}\` was not written by espalier, and the dataset would take its place. Choose another folder.`,
  );
}

/** Puts back what an exchange left aside when its process was killed. */
function restore(out: string, old: string): void {
  if (!existsSync(old)) return;
  for (const config of readdirSync(old)) {
    if (existsSync(join(out, config))) keepOthers(join(old, config), join(out, config));
    else renameSync(join(old, config), join(out, config));
  }
  rmSync(old, { recursive: true, force: true });
}

function exchange({ is, was, comes }: Readonly<Record<'comes' | 'is' | 'was', string>>): void {
  if (existsSync(is)) renameSync(is, was);
  if (existsSync(comes)) renameSync(comes, is);
  if (existsSync(was)) keepOthers(was, is);
}

/** Files that no export made go along. */
function keepOthers(from: string, to: string): void {
  for (const file of readdirSync(from)) {
    if (ownFile.test(file) || existsSync(join(to, file))) continue;
    makeFolder(to);
    renameSync(join(from, file), join(to, file));
  }
}
