import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isCode } from './with-storage-errors.ts';

/**
 * Makes a folder and those above it. Not Node's `recursive`, which tries for ever where nothing can be made, as
 * below `/proc`.
 *
 * @returns the folders that were not there before, the outermost first.
 */
export function makeFolder(path: string): readonly string[] {
  if (isFolder(path)) return [];
  const parent = dirname(resolve(path));
  const made = parent === resolve(path) ? [] : makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have made it in the meantime.
    if (isCode(error, 'EEXIST') && isFolder(path)) return made;
    throw error;
  }
  return [...made, path];
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (error) {
    // Below a file: the system says so when the folder is made.
    if (isCode(error, 'ENOTDIR')) return false;
    throw error;
  }
}
