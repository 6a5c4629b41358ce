import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storing } from '../../runtime/storing.ts';

/** A dataset that is being written beside the one that stands there. */
export interface DatasetFolder {
  /** Makes a folder for the files of a configuration, and says where it is. */
  configFolder(config: string): string;
  /** Puts what was written in the place of what stood there. */
  commit(configs: readonly string[], readme: string): void;
  /** Takes away what was written. What stood there stays. */
  abandon(): void;
}

/** No glob of a dataset begins with a point. */
const partial = '.espalier-partial';
const replaced = '.espalier-replaced';
/** The files that an export makes: all others in its folders are somebody's own, and stay. */
const ownFile = /^(\w+(\.\w+)*-\d{5}-of-\d{5}\.(jsonl|parquet)|dataset_info\.json)$/;

/**
 * Opens a folder for a dataset. What is written stands aside until `commit`, which exchanges whole configurations:
 * a process that is killed before leaves the old dataset as it was. One that is killed between the two renames of
 * the exchange leaves a configuration aside, which is put back here.
 *
 * @throws EspalierError `storage` where the disk objects, here and later.
 */
export function datasetFolder(out: string): DatasetFolder {
  const subject = `The folder \`${out}\``;
  const aside = join(out, partial);
  const old = join(out, replaced);
  storing(subject, () => {
    mkdirSync(out, { recursive: true });
    restore(out, old);
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside);
  });
  return {
    configFolder(config) {
      const folder = join(aside, config);
      storing(subject, () => mkdirSync(folder, { recursive: true }));
      return folder;
    },
    commit(configs, readme) {
      storing(subject, () => {
        writeFileSync(join(aside, 'README.md'), readme);
        mkdirSync(old, { recursive: true });
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
    },
  };
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
    mkdirSync(to, { recursive: true });
    renameSync(join(from, file), join(to, file));
  }
}
