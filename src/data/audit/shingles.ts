/** Words in a shingle. */
const wordsEach = 3;

/** A text as hashes. */
export interface Shingled {
  /** Its shingles, one a word from the third one on; a shorter text is one shingle. */
  readonly shingles: Uint32Array;
  /** A hash of the numbers in it, in order. */
  readonly numbers: number;
}

/**
 * The shingles of three words of texts that belong together; each one's place counts. Letters count without case, and
 * punctuation not at all; of Chinese and Japanese each character is a word.
 */
export function shinglesOf(texts: readonly string[]): Shingled {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const shingles = new Uint32Array(length);
  let [count, numbers] = [0, 0];
  for (const [place, text] of texts.entries()) {
    const salt = mixed(place + 1);
    let [before, last, words] = [salt, salt, 0];
    for (let at = 0; at < text.length; ) {
      const end = wordEnd(text, at);
      if (end === at) {
        at += 1;
        continue;
      }
      const word = hashOfWord(text, at, end);
      if (isNumber(text, at, end)) numbers = mixed(numbers ^ word);
      words += 1;
      if (words >= wordsEach) {
        shingles[count++] = mixed(Math.imul(before, 31) ^ Math.imul(last, 17) ^ word);
      }
      [before, last] = [last, word];
      at = end;
    }
    if (words > 0 && words < wordsEach) shingles[count++] = mixed(Math.imul(before, 31) ^ last);
  }
  return { shingles: shingles.slice(0, count), numbers };
}

/** Where the word that begins at a place ends; the place itself where none begins there. */
function wordEnd(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const code = foldedCode(text.charCodeAt(at));
    if (code === 0) return at;
    if (isIdeograph(code)) return at === start ? at + 1 : at;
  }
  return at;
}

function hashOfWord(text: string, start: number, end: number): number {
  let word = 0x811c9dc5;
  for (let at = start; at < end; at++) {
    word = Math.imul(word ^ foldedCode(text.charCodeAt(at)), 0x01000193);
  }
  return word;
}

function isNumber(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}

/** A letter or digit without its case; 0 for what parts words. */
function foldedCode(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return code;
  if (code >= 0x30 && code <= 0x39) return code;
  if (code >= 0x41 && code <= 0x5a) return code + 0x20;
  // Beyond ASCII: spaces, punctuation and signs.
  const parts =
    code < 0xc0 ||
    (code >= 0x2000 && code < 0x2e80) ||
    (code >= 0x3000 && code < 0x3040) ||
    (code >= 0xff00 && code < 0xff10);
  return parts ? 0 : code;
}

/** Chinese and Japanese characters, which no spaces part. */
function isIdeograph(code: number): boolean {
  return code >= 0x2e80 && code < 0xa000;
}

/** The last steps of MurmurHash3: every bit of the result depends on every bit given. */
export function mixed(value: number): number {
  let bits = value ^ (value >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
