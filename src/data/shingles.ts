/** Words in a shingle. */
const wordsEach = 3;

/** A text as hashes. */
export interface Shingled {
  /** Its shingles, one a word from the third one on; a shorter text is one shingle. */
  readonly shingles: Uint32Array;
  /** A hash of the numbers in it, in order. */
  readonly numbers: number;
  /** A hash of every character of it. */
  readonly text: number;
}

/**
 * Reads the shingles of three words of texts that belong together; each one's place counts. Letters count without case,
 * and punctuation not at all; of Chinese and Japanese each character is a word.
 */
export class ShingleReader {
  /** Overwritten by each reading, so that nothing is allocated for a row. */
  #shingles = new Uint32Array(1024);
  #count = 0;
  #numbers = 0;
  #text = 0;
  /** Of the text being read: a hash of its place, its words so far, and the hashes of the last two. */
  #salt = 0;
  #words = 0;
  #before = 0;
  #last = 0;

  /** The shingles of texts. They hold until it reads again. */
  read(texts: readonly string[]): Shingled {
    this.#count = 0;
    this.#numbers = 0;
    this.#text = firstHash;
    const most = texts.reduce((sum, text) => sum + text.length, 0);
    if (most > this.#shingles.length) this.#shingles = new Uint32Array(2 * most);
    for (const [place, text] of texts.entries()) {
      this.#readText(text, mixed(place + 1));
      // A shorter text is one shingle.
      if (this.#words > 0 && this.#words < wordsEach) this.#add(this.#before, this.#last, 0);
    }
    const shingles = this.#shingles.subarray(0, this.#count);
    return { shingles, numbers: this.#numbers, text: this.#text };
  }

  #readText(text: string, salt: number): void {
    this.#salt = salt;
    this.#before = 0;
    this.#last = 0;
    this.#words = 0;
    let word = firstHash;
    // The highest code of the word; 0 before its first character.
    let highest = 0;
    let whole = this.#text;
    for (let at = 0; at <= text.length; at++) {
      // The end separates words, and texts, as a character does.
      const character = at === text.length ? 0 : text.charCodeAt(at);
      const code = foldedCode(character);
      whole = Math.imul(whole ^ character, hashPrime);
      const isAlone = isIdeograph(code);
      if (highest > 0 && (code === 0 || isAlone)) {
        this.#endWord(word, highest);
        highest = 0;
      }
      if (code === 0) continue;
      word = Math.imul((highest === 0 ? firstHash : word) ^ code, hashPrime);
      // After an ideograph, the next character begins a word.
      if (isAlone) this.#endWord(word, code);
      else if (code > highest) highest = code;
    }
    this.#text = whole;
  }

  #endWord(word: number, highest: number): void {
    if (highest <= digitNine) this.#numbers = mixed(this.#numbers ^ word);
    this.#words += 1;
    if (this.#words >= wordsEach) this.#add(this.#before, this.#last, word);
    this.#before = this.#last;
    this.#last = word;
  }

  #add(first: number, second: number, third: number): void {
    const shingle = mixed(Math.imul(first ^ this.#salt, 31) ^ Math.imul(second, 17) ^ third);
    this.#shingles[this.#count++] = shingle;
  }
}

const firstHash = 0x811c9dc5;
const hashPrime = 0x01000193;
/** Of letters and digits, digits have the lowest codes. */
const digitNine = 0x39;

const folded = Uint8Array.from({ length: 0xc0 }, (_, code) =>
  /[a-z\d]/i.test(String.fromCharCode(code)) && code < 0x80
    ? String.fromCharCode(code).toLowerCase().charCodeAt(0)
    : 0,
);

/** A letter or digit without its case; 0 for what parts words. */
function foldedCode(code: number): number {
  if (code < 0xc0) return folded[code] ?? 0;
  // Beyond, what is no letter: spaces, punctuation and signs.
  const parts =
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
