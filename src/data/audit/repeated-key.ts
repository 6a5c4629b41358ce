/**
 * A key that an object of a row has twice, by its JSON: parsers keep the last one. Keys are counted in the text, from quote to
 * quote, and in the value.
 */
export function repeatedKey(source: string, value: unknown): string | undefined {
  return keysWritten(source) === keysHeld(value) ? undefined : firstRepeated(source);
}

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];

function keysWritten(source: string): number {
  let keys = 0;
  for (let open = source.indexOf('"'); open >= 0; ) {
    const close = closingQuote(source, open);
    if (isKey(source, close)) keys += 1;
    open = source.indexOf('"', close + 1);
  }
  return keys;
}

export function closingQuote(source: string, open: number): number {
  for (let at = source.indexOf('"', open + 1); at >= 0; at = source.indexOf('"', at + 1)) {
    let before = at;
    while (source.charCodeAt(before - 1) === backslash) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return source.length;
}

/** Whether a colon follows a text. */
function isKey(source: string, close: number): boolean {
  let at = close + 1;
  while (at < source.length && source.charCodeAt(at) <= 0x20) at++;
  return source.charCodeAt(at) === colon;
}

function keysHeld(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (!Array.isArray(value)) keys = Object.keys(value).length;
  for (const part of Object.values(value)) keys += keysHeld(part);
  return keys;
}

/** The first key that occurs twice in the same object. */
function firstRepeated(source: string): string {
  const open: Set<string>[] = [];
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code === 0x7b) open.push(new Set());
    else if (code === 0x7d) open.pop();
    if (code !== quote) continue;
    const close = closingQuote(source, at);
    if (isKey(source, close)) {
      const key = source.slice(at + 1, close);
      const known = open.at(-1);
      if (known?.has(key) === true) return key;
      known?.add(key);
    }
    at = close;
  }
  return '';
}
