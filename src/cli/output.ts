import { visible } from '../base/visible.ts';

/** A line, or several, for whoever reads the results. */
export function print(text: string): void {
  writeOut(`${text}\n`);
}

/** A line for whoever looks at what goes wrong. */
export function printError(text: string): void {
  writeError(`${text}\n`);
}

/**
 * Writes text to the standard output, in which nothing steers a terminal: models and servers may have written it. With
 * `writeError` the one way out of the process.
 */
export function writeOut(text: string): void {
  process.stdout.write(shown(text));
}

/** Writes text to the standard error. */
export function writeError(text: string): void {
  process.stderr.write(shown(text));
}

function shown(text: string): string {
  return visible(text.replaceAll('\r\n', '\n'));
}

/** Warnings of Node.js and its libraries take the same way. */
export function showWarnings(): void {
  // Without one, they are not worth showing.
  if (process.listenerCount('warning') === 0) return;
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => printError(`${name}: ${message}`));
}

/**
 * Lets a reader such as `head` close the pipe without a complaint: no reader is left.
 */
export function endQuietlyWhenPipeCloses(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit();
      if (stream === process.stdout) printError(`The output cannot be written: ${error.message}`);
      process.exit(1);
    });
  }
}

/** Text from a file or a server on one line, cut to fit a terminal where the output is one. */
export function oneLine(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return process.stdout.isTTY && plain.length > 100 ? `${plain.slice(0, 99)}…` : plain;
}

/** Between two updates of a status line on a terminal, and between two lines elsewhere, in milliseconds. */
const interval = 100;
const longInterval = 30_000;

/** One line on the terminal that is written over and over. Where stderr is none, such as in a log, a new line now and then. */
export class StatusLine {
  readonly #terminal = process.stderr.isTTY;
  #shownAt = Number.NEGATIVE_INFINITY;
  #toldAt = performance.now();
  #later: NodeJS.Timeout | undefined;

  /** Shows a new text; where the last one is too fresh, a little later. The text is made only when it is shown. */
  show(text: () => string): void {
    if (!this.#terminal) {
      if (performance.now() - this.#toldAt < longInterval) return;
      this.#toldAt = performance.now();
      printError(text());
      return;
    }
    clearTimeout(this.#later);
    const leftMs = this.#shownAt + interval - performance.now();
    if (leftMs > 0) {
      this.#later = setTimeout(() => this.show(text), leftMs).unref();
      return;
    }
    const width = process.stderr.columns - 1;
    // The escape sequence is our own.
    process.stderr.write('\r\u001b[K');
    writeError(
      text()
        .replaceAll('\n', ' ')
        .slice(0, width > 0 ? width : 79),
    );
    this.#shownAt = performance.now();
  }

  /** Takes the line away. */
  clear(): void {
    clearTimeout(this.#later);
    if (this.#terminal && this.#shownAt >= 0) process.stderr.write('\r\u001b[K');
    this.#shownAt = Number.NEGATIVE_INFINITY;
  }
}
