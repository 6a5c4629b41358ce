import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { EspalierError } from '../../src/index.ts';
import { sentencesIn } from '../errors/sentences.ts';

/** Functions that only the library calls, once for each node or each sample: a check would cost every simulation. */
const calledForNodes = new Set([
  'pairScores.advantage',
  'pairScores.hardOutcome',
  'pairScores.q',
  'unobserved.visits',
]);

/** Rules that the library calls in every simulation: a check of all their arguments would cost every one. */
const rules = new Set(['canWiden', 'knownValue', 'maxBackup', 'meanBackup']);

/** Members of a puzzle that take its own instances and states, or the random numbers of the search. */
const ofPuzzles = /\.(?:check|estimate|format|generate|heuristic|render)$/;

type Unknown = (...given: unknown[]) => unknown;

/** All exported functions, and those in exported objects such as `formats`, by name. */
async function exportedFunctions(): Promise<ReadonlyMap<string, Unknown>> {
  const functions = new Map<string, Unknown>();
  for (const target of Object.values(manifest.exports)) {
    if (typeof target === 'string') continue;
    const exported: object = await import(
      new URL(`../../${target['espalier-source']}`, import.meta.url).href
    );
    for (const [name, value] of Object.entries(exported)) {
      const members = typeof value === 'object' ? Object.entries(value as object) : [];
      const named = members.map(([member, inner]) => [`${name}.${member}`, inner] as const);
      for (const [path, called] of [[name, value] as const, ...named]) {
        if (typeof called === 'function') functions.set(path, called as Unknown);
      }
    }
  }
  return functions;
}

/** Whether something is a class, which the language does not let anyone call without `new`. */
function isClass(value: Unknown): boolean {
  return value.toString().startsWith('class');
}

/** What a call throws, whether at once, later, or at the first of several results. */
async function thrownBy(call: () => unknown): Promise<unknown> {
  try {
    const made: unknown = await call();
    if (Symbol.asyncIterator in Object(made)) {
      await (made as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
    }
    return undefined;
  } catch (error) {
    return error;
  }
}

const functions = [...(await exportedFunctions())].filter(
  ([name, value]) => !(isClass(value) || calledForNodes.has(name) || ofPuzzles.test(name)),
);

const missing = [[], [undefined], [null], [{}]];
const wrong = [[[null]], [5], [{}, null], [null, {}], [[null], {}], [[null], () => true]];

test.each(functions)('%s refuses missing arguments in a sentence', async (name, called) => {
  for (const given of rules.has(name) ? missing : [...missing, ...wrong]) {
    const error = await thrownBy(() => called(...given));
    if (error === undefined) continue;
    expect.soft(error).toBeInstanceOf(EspalierError);
    expect.soft(sentencesIn(String((error as Error).message)).length).toBeOneOf([1, 2]);
    expect.soft((error as Error).message).toMatch(/`/);
  }
});
