/** A line, or several, for whoever reads the results. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A line for whoever looks at what goes wrong. */
export function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * Lets a reader such as `head` close the pipe without a complaint: there is nobody left to write for.
 */
export function endQuietlyWhenPipeCloses(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }
}

/** Text from a file or a server, for one line of a terminal. */
export function oneLine(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return plain.length > 100 ? `${plain.slice(0, 99)}…` : plain;
}

/** Between two updates of a status line, in milliseconds. */
const interval = 100;

/** One line on the terminal that is written over and over; nothing where stderr is no terminal. */
export class StatusLine {
  readonly #terminal = process.stderr.isTTY;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** Shows a new text, unless the last one is too fresh. The text is made only when it is shown. */
  show(text: () => string): void {
    if (!this.#terminal || performance.now() - this.#shownAt < interval) return;
    const width = process.stderr.columns - 1;
    process.stderr.write(`\r\u001b[K${text().slice(0, width > 0 ? width : 79)}`);
    this.#shownAt = performance.now();
  }

  /** Takes the line away. */
  clear(): void {
    if (this.#terminal && this.#shownAt >= 0) process.stderr.write('\r\u001b[K');
    this.#shownAt = Number.NEGATIVE_INFINITY;
  }
}
