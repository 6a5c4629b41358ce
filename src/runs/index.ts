/**
 * Run folders: what was asked, every paid call, the trees, what was found.
 *
 * @module
 */

export { openRun, type RunFolder, readRun, type SavedRun, type TreeEntry } from './run-folder.ts';
