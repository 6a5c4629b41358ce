import { crc32 } from 'node:zlib';

/** A JSON object as text whose last field is the CRC-32 of the text before it. An empty object stays unchanged. */
export function seal(text: string): string {
  const body = text.slice(0, -1);
  return body === '{' ? text : `${body},"sum":"${checksum(body)}"}`;
}

/** The text without its seal. */
export function unsealed(bytes: Buffer): string {
  return `${bytes.toString('utf8', 0, bytes.length - sealLength)}}`;
}

/** Whether a text is unchanged since it was written. `undefined` if it has no seal. */
export function isIntact(bytes: Buffer): boolean | undefined {
  const ending = bytes.subarray(-sealLength);
  const sum = pattern.exec(ending.toString('latin1'))?.[1];
  if (sum === undefined) return resemblesSeal(ending) ? false : undefined;
  return checksum(bytes.subarray(0, -sealLength)) === sum;
}

/**
 * The state of the text after the last line break: a `whole` line that only lacks its line break, a `damaged` one whose
 * line break was changed, or a `torn` one that was being written when the process died.
 */
export function stateOfRest(bytes: Buffer): 'damaged' | 'torn' | 'whole' {
  const intact = isIntact(bytes);
  // A part of an object is never valid JSON: without a seal this is a line from an earlier version.
  if (intact === true || (intact === undefined && isJsonObject(bytes))) return 'whole';
  return intact === false || sealedBefore.test(bytes.toString('latin1')) ? 'damaged' : 'torn';
}

function isJsonObject(bytes: Buffer): boolean {
  // Most incomplete lines need not be parsed.
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
/** Dots stand for digits. */
const frame = Buffer.from(',"sum":"........"}');
const sealLength = frame.length;
const point = 0x2e;
const closingBrace = 0x7d;

/** A single flipped bit in a seal must not make a text look as if it never had one. */
function resemblesSeal(ending: Buffer): boolean {
  const changes = [...frame]
    .map((byte, place) => (byte === point ? 0 : byte ^ (ending[place] ?? 0xff)))
    .filter((change) => change !== 0);
  const [change = 0] = changes;
  return changes.length < 2 && (change & (change - 1)) === 0;
}
