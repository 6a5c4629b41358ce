import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject } from '../../base/json.ts';
import type { ReadRow, RowColumns } from '../formats/reading.ts';
import { textsIn, turnsOf } from './contents.ts';
import type { RowFault } from './report.ts';

const none: readonly RowFault[] = [];

/** As many images as places for them. A conversation without places has them put in front by trainers. */
export function imageFaults({ prompt, chosen, columns }: ReadRow): readonly RowFault[] {
  const images = imagesIn(columns);
  const turns = [prompt, chosen].flatMap(turnsOf);
  const parts = turns
    .flatMap(({ content }): readonly unknown[] => (Array.isArray(content) ? content : []))
    .filter((part) => isPlainObject(part) && part['type'] === 'image' && !hasSource(part)).length;
  if (images === undefined && parts === 0) return none;
  const marks =
    images === undefined || parts > 0
      ? 0
      : turns.flatMap(textsIn).reduce((sum, text) => sum + text.split('<image>').length - 1, 0);
  const [places, count] = [parts + marks, images?.length ?? 0];
  return places === count || (places === 0 && parts === 0 && !asParts(turns))
    ? none
    : [{ code: 'image-count', excerpt: `${count} images, ${places} places` }];
}

function asParts(turns: ReturnType<typeof turnsOf>): boolean {
  return turns.some(({ content, calls }) => Array.isArray(content) && calls.length === 0);
}

function hasSource(part: Readonly<Record<string, unknown>>): boolean {
  return ['image', 'url', 'path', 'base64', 'image_url', 'data'].some(
    (name) => (part[name] ?? null) !== null,
  );
}

function imagesIn({ images, image }: RowColumns): readonly unknown[] | undefined {
  if (Array.isArray(images)) return images;
  const only = images ?? image ?? null;
  return only === null ? undefined : [only];
}

/** Watches whether images that are files are there. Where none is, they may lie elsewhere. */
export class ImageFiles {
  readonly #found = new Set<string>();
  readonly #missing: MissingImage[] = [];

  /** Looks for the images of a row in some folders. */
  look(
    columns: RowColumns,
    config: string,
    { place, folders }: { readonly folders: readonly string[]; readonly place: string },
  ): void {
    for (const name of imagesIn(columns) ?? []) {
      // Anything longer, or with a scheme, is no path within the dataset.
      if (typeof name !== 'string' || name.length > 500 || /^(?:[a-z][\w+.-]*:|\/)/i.test(name)) {
        continue;
      }
      if (folders.some((folder) => existsSync(join(folder, name)))) this.#found.add(config);
      else if (this.#missing.length < mostMissing)
        this.#missing.push({ config, place, excerpt: name });
    }
  }

  /** The images that are missing, and whether any others of their configuration are there. */
  missing(): readonly (MissingImage & { readonly code: RowFault['code'] })[] {
    return this.#missing.map((one) => ({
      ...one,
      code: this.#found.has(one.config) ? 'missing-image' : 'no-images',
    }));
  }
}

type MissingImage = Readonly<Record<'config' | 'excerpt' | 'place', string>>;

/** How many missing images are counted. */
const mostMissing = 1000;
