import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isCode } from './with-storage-errors.ts';

/**
 * Creates a folder and its parents. Node's `recursive` is not used, because it loops forever where nothing can be
 * created, such as below `/proc`.
 *
 * @returns the folders that did not exist before, outermost first.
 */
export function makeFolder(path: string): readonly string[] {
  if (isFolder(path)) return [];
  const parent = dirname(resolve(path));
  const made = parent === resolve(path) ? [] : makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it in the meantime.
    if (isCode(error, 'EEXIST') && isFolder(path)) return made;
    throw error;
  }
  return [...made, path];
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (error) {
    // Below a file: the system reports that when the folder is created.
    if (isCode(error, 'ENOTDIR')) return false;
    throw error;
  }
}
