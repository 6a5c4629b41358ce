import { existsSync } from 'node:fs';

/**
 * The URL of a file in the package, by its path relative to the manifest, wherever in the package this module was
 * bundled.
 */
export function packageFile(path: string): URL {
  return new URL(path, root);
}

const root = folderOfManifest(new URL('.', import.meta.url));

function folderOfManifest(folder: URL): URL {
  const parent = new URL('..', folder);
  const isHere = existsSync(new URL('package.json', folder)) || parent.href === folder.href;
  return isHere ? folder : folderOfManifest(parent);
}
