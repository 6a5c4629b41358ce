import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sha256 } from '#platform';
import { EspalierError } from './errors.ts';
import { isError } from './failure.ts';
import { packageFile } from './package-file.ts';
import { isCode } from './with-storage-errors.ts';

/** What names a module: a path that ends as JavaScript and TypeScript do. */
export const modulePath: RegExp = /\.[cm]?[jt]s$/;

/** Whether a text names a module. */
export function isModule(text: string): boolean {
  return modulePath.test(text);
}

/**
 * The default export of a module, or else its export of this name. The module is executed: it is the user's own code.
 *
 * @throws EspalierError `usage` if the file does not exist or cannot be loaded.
 */
export async function exportOf(path: string, name: string): Promise<unknown> {
  if (!existsSync(path)) throw new EspalierError('usage', `There is no file \`${path}\`.`);
  const exported = await load(path);
  return exported['default'] ?? exported[name];
}

/** Where in code of the user's own an error was thrown, such as `./world.ts:3:14`: the line that JavaScript names first. */
function whereThrown(thrown: unknown): string | undefined {
  if (!isError(thrown)) return undefined;
  for (const [, named = '', place] of String(thrown.stack).matchAll(
    /^ +at (?:.*\()?(.+?):(\d+:\d+)\)?$/gm,
  )) {
    const file = named.startsWith('file:') ? fileURLToPath(named) : named;
    if (!isAbsolute(file) || /[\\/]node_modules[\\/]/.test(file)) continue;
    if (ownFolders.some((folder) => file.startsWith(folder))) {
      // Refused here, and called there; any other error of this package has nothing to do with its callers.
      if (EspalierError.isInstance(thrown)) continue;
      break;
    }
    return `${shownPath(file)}:${place}`;
  }
  return whereThrown(thrown.cause);
}

/** A message, with where in code of the user's own it comes from. */
export function withPlace(message: string, thrown: unknown): string {
  // An error of this package tells only what it found: the cause is the error of the user's code.
  const place = whereThrown(EspalierError.isInstance(thrown) ? thrown.cause : thrown);
  return place === undefined ? message : `${message.replace(/\.$/, '')} (at ${place}).`;
}

const ownFolders = ['src/', 'dist/'].map((name) => fileURLToPath(packageFile(name)));

function shownPath(file: string): string {
  const path = relative('', file);
  return path.startsWith('..') || isAbsolute(path) ? file : `.${sep}${path}`;
}

/** Where a module cannot be parsed, as only Node's own check of it says. */
function whereUnparsed(path: string): string {
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' });
  const [, line] = /:(\d+)\n/.exec(stderr) ?? [];
  return line === undefined ? '' : ` in line ${line}`;
}

/** A hash of a module and of the files that it imports by a path; its other dependencies are ignored. */
export function moduleRevision(path: string): string {
  const found = new Map<string, string>();
  const add = (named: string): void => {
    const file = sourceOf(named);
    if (file === undefined || found.has(file)) return;
    const text = readFileSync(file, 'utf8');
    found.set(file, text);
    for (const [, , name = ''] of text.matchAll(
      /(?:from|import|require)\s*\(?\s*(['"`])((?:\.|\/|file:)[^'"`]*)\1/g,
    )) {
      add(name.startsWith('file:') ? fileURLToPath(name) : resolve(dirname(file), name));
    }
  };
  add(resolve(path));
  return sha256(Buffer.from([...found.values()].join('\0'))).slice(0, 16);
}

/** The file that an import means: TypeScript is imported as the JavaScript it becomes, and some leave the ending out. */
function sourceOf(path: string): string | undefined {
  const inTypeScript = path.replace(/\.([cm]?)js$/, '.$1ts');
  const endings = ['', '.ts', '.js', '/index.ts', '/index.js'].map((ending) => path + ending);
  return [inTypeScript, ...endings].find((file) =>
    statSync(file, { throwIfNoEntry: false })?.isFile(),
  );
}

async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(resolve(path)).href);
  } catch (cause) {
    if (isCode(cause, 'ERR_UNKNOWN_FILE_EXTENSION') && /\.[cm]?ts$/.test(path)) {
      const message = `\`${path}\` is TypeScript, which Node ${process.versions.node} does not read: take Node 22.18 or later, run it with tsx (\`NODE_OPTIONS='--import tsx' npx espalier …\`), or compile it to JavaScript.`;
      throw new EspalierError('usage', message, { cause });
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EspalierError(
      'usage',
      `\`${path}\` cannot be loaded: ${reason.replace(/\.$/, '')}${cause instanceof SyntaxError ? whereUnparsed(path) : ''}.`,
      { cause },
    );
  }
}
