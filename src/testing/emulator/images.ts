import type { JsonValue } from '../../contracts/json.ts';
import type { Image } from '../../contracts/language-model.ts';
import { type JsonObject, listOf, objectOf, textAt } from './fields.ts';

/** The images among the parts of a content, in the form of any API. */
export function imagesIn(content: JsonValue | undefined): { readonly images?: readonly Image[] } {
  const images = listOf(content).flatMap((part) => imageOf(objectOf(part)) ?? []);
  return images.length === 0 ? {} : { images };
}

function imageOf(part: JsonObject): Image | undefined {
  const source = objectOf(part['source']);
  const base64 = textAt(source, 'data');
  if (part['type'] === 'image' && base64 !== undefined) {
    return { mediaType: textAt(source, 'media_type') ?? '', base64 };
  }
  const url = textAt(objectOf(part['image_url']), 'url') ?? textAt(part, 'image_url') ?? '';
  const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined || data === undefined ? undefined : { mediaType, base64: data };
}
