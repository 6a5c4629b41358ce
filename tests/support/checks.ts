import { inspect, isDeepStrictEqual } from 'node:util';

/** Claims that a program checks, and counts. */
export class Checks {
  #held = 0;
  readonly #failed: string[] = [];

  /** Claims that two values are equal. */
  equal(claim: string, actual: unknown, expected: unknown): void {
    if (isDeepStrictEqual(actual, expected)) this.#held++;
    else
      this.#failed.push(`${claim}\n  got      ${inspect(actual)}\n  expected ${inspect(expected)}`);
  }

  /** Claims that a text holds another one. */
  holds(claim: string, text: unknown, part: string): void {
    if (typeof text === 'string' && text.includes(part)) this.#held++;
    else this.#failed.push(`${claim}\n  got ${inspect(text)}\n  without ${inspect(part)}`);
  }

  /** Claims that something throws an error that says this. */
  async refuses(claim: string, act: () => unknown, part: string): Promise<void> {
    try {
      await act();
      this.#failed.push(`${claim}\n  it did not throw`);
    } catch (error) {
      this.holds(claim, (error as Error).message, part);
    }
  }

  /** Says how it went, and ends the process with 1 where a claim did not hold. */
  end(title: string): void {
    for (const failed of this.#failed) process.stdout.write(`FAILED: ${failed}\n`);
    const all = this.#held + this.#failed.length;
    const memory = Math.round(process.resourceUsage().maxRSS / 1024);
    process.stdout.write(
      `${title}, Node ${process.versions.node}: ${this.#held} of ${all} claims held, ${memory} MB\n`,
    );
    if (this.#failed.length > 0) process.exitCode = 1;
  }
}
