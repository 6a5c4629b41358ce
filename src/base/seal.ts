import { crc32 } from 'node:zlib';

/** A JSON object as text, its last field the CRC-32 of what stands before. An empty object stays as it is. */
export function seal(text: string): string {
  const body = text.slice(0, -1);
  return body === '{' ? text : `${body},"sum":"${checksum(body)}"}`;
}

/** What was sealed. */
export function unsealed(bytes: Buffer): string {
  return `${bytes.toString('utf8', 0, bytes.length - sealLength)}}`;
}

/** Whether a text is just what was written. `undefined` where it was not sealed. */
export function isIntact(bytes: Buffer): boolean | undefined {
  const ending = bytes.subarray(-sealLength);
  const sum = pattern.exec(ending.toString('latin1'))?.[1];
  if (sum === undefined) return resemblesSeal(ending) ? false : undefined;
  return checksum(bytes.subarray(0, -sealLength)) === sum;
}

/**
 * What stands behind the last end of a line: a `whole` line that only lacks its end, a `damaged` one whose end was
 * changed, or one that is `torn` because the process died while it was written.
 */
export function stateOfRest(bytes: Buffer): 'damaged' | 'torn' | 'whole' {
  const intact = isIntact(bytes);
  // No part of an object is one: without a seal it is a line as earlier versions wrote it.
  if (intact === true || (intact === undefined && isJsonObject(bytes))) return 'whole';
  return intact === false || sealedBefore.test(bytes.toString('latin1')) ? 'damaged' : 'torn';
}

function isJsonObject(bytes: Buffer): boolean {
  // Most of what was cut off need not be parsed.
  if (bytes.at(-1) !== closingBrace) return false;
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}

function checksum(body: string | Uint8Array): string {
  return crc32(body).toString(16).padStart(8, '0');
}

const pattern = /,"sum":"([0-9a-f]{8})"\}$/;
const sealedBefore = /,"sum":"[0-9a-f]{8}"\}./s;
/** Points stand for digits. */
const frame = Buffer.from(',"sum":"........"}');
const sealLength = frame.length;
const point = 0x2e;
const closingBrace = 0x7d;

/** One flipped bit in a seal must not make a text look as if it never had one. */
function resemblesSeal(ending: Buffer): boolean {
  const changes = [...frame]
    .map((byte, place) => (byte === point ? 0 : byte ^ (ending[place] ?? 0xff)))
    .filter((change) => change !== 0);
  const [change = 0] = changes;
  return changes.length < 2 && (change & (change - 1)) === 0;
}
