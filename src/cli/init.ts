import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Command } from 'commander';
import { EspalierError } from '../base/errors.ts';
import { makeFolder } from '../base/make-folder.ts';
import { packageFile } from '../base/package-file.ts';
import { espalierVersion } from '../base/version.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { print } from './output.ts';

/** The command. */
export function initCommand(): Command {
  return new Command('init')
    .description('Write a small project with your own environment, a search, a test and a dataset.')
    .argument('[folder]', 'where to write it; existing files are never overwritten', '.')
    .option('--json', 'print the result as one JSON document')
    .addHelpText('after', '\nExample: espalier init help-desk')
    .action((folder: string, request: { readonly json?: boolean }) => runInit(folder, request));
}

function runInit(folder: string, { json = false }: { readonly json?: boolean }): void {
  const templates = packageFile('templates/');
  const files = new Map([['package.json', manifestFor(folder)]]);
  for (const name of readdirSync(templates).toSorted()) {
    files.set(name, readFileSync(new URL(name, templates), 'utf8'));
  }
  const names = [...files.keys()];
  const taken = names.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (taken !== undefined) {
    throw new EspalierError(
      'usage',
      `\`${taken}\` is there already, and nothing is written over: name another folder, such as \`espalier init ${join(folder, 'help-desk')}\`.`,
    );
  }
  withStorageErrors(`\`${folder}\``, () => {
    makeFolder(folder);
    const begun: string[] = [];
    try {
      for (const [name, text] of files) {
        const path = join(folder, name);
        writeFileSync(path, '', { flag: 'wx' });
        begun.push(path);
        writeFileSync(path, text);
      }
    } catch (error) {
      // A half-written project would be in the way of the next attempt.
      for (const path of begun) rmSync(path, { force: true });
      throw error;
    }
  });
  print(json ? JSON.stringify({ folder, files: names }, undefined, 2) : described(folder, names));
}

function manifestFor(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-');
  const manifest = {
    name: name.replaceAll(/^-+|-+$/g, '') || 'search',
    private: true,
    type: 'module',
    scripts: { start: 'node search.js', test: 'node --test', dataset: 'node dataset.js' },
    dependencies: { espalier: espalierVersion() },
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  const safe = path.startsWith('-') ? `./${path}` : path;
  return /^[\w./-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", `'\\''`)}'`;
}

function described(folder: string, names: readonly string[]): string {
  const parts = ['environment', 'policy', 'value'].map((part) => `--${part} world.js`);
  return [
    `Wrote ${names.join(', ')} into ${folder}.`,
    '',
    'Next:',
    ...(folder === '.' ? [] : [`  cd ${quoted(folder)}`]),
    '  npm install',
    '  npm start          searches, and draws the tree',
    '  npm test           checks that the world keeps its contract',
    '  npm run dataset    makes training data of the tree',
    '',
    'The same search on the command line:',
    `  npx espalier search ${parts.join(' ')}`,
  ].join('\n');
}
