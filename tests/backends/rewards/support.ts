import { expect } from 'vitest';
import type { ModelCall } from '../../../src/contracts/language-model.ts';
import { manualClock } from '../../../src/testing/index.ts';

/** A call that counts how often leave for a further request was asked for. */
export interface CountedCall extends ModelCall {
  readonly leaves: readonly string[];
}

/** A call without a search around it. */
export function plainCall(signal: AbortSignal = new AbortController().signal): CountedCall {
  const leaves: string[] = [];
  return {
    signal,
    clock: manualClock({ auto: true }),
    leaves,
    requestExtraCall: (reason) => {
      leaves.push(reason);
      return Promise.resolve();
    },
  };
}

/** A `fetch` that changes the JSON of replies on their way. */
export function mangling(change: (body: never) => unknown): typeof globalThis.fetch {
  return async (...request) => {
    const response = await fetch(...request);
    const body = (await response.json()) as never;
    return Response.json(change(body), { status: response.status });
  };
}

/** A number that is this one but for rounding, in what is expected. */
export function close(number: number, digits: number = 12): number {
  return expect.closeTo(number, digits) as number;
}

/** Any text with this in it, in what is expected. */
export function containing(text: string): unknown {
  return expect.stringContaining(text);
}

/** Any text like this, in what is expected. */
export function matching(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}
