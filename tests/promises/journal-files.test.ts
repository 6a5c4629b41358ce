import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openJournal, readJournal, replayed } from '../../src/calls/index.ts';
import { mcts, seededRandom, treeToJson } from '../../src/index.ts';
import { scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { searchOf } from '../support/search-of.ts';
import { flipsOf } from './journal-flips.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-journal-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 'journal.jsonl');

function options() {
  const model = scriptedModel({ answer: hashedAnswer });
  return {
    ...throughModel(syntheticTree({ branching: 3 }), { model }),
    algorithm: mcts(),
    budget: { simulations: 12 },
  };
}

/** A journal on disk, and the tree of its search. */
async function written(): Promise<{ text: Buffer; tree: string }> {
  rmSync(path, { force: true });
  const journal = openJournal(path);
  const { tree } = await searchOf({ ...options(), journal });
  journal.close();
  return { text: readFileSync(path), tree: JSON.stringify(treeToJson(tree)) };
}

test('a flipped bit is found out', async () => {
  const random = seededRandom('flipped in the suite');
  const { silent, refused } = await flipsOf(path, { count: 400, random });
  expect(silent).toBe(0);
  expect(refused).toBeGreaterThan(390);
});

describe('a tail', () => {
  test.each([1, 2, 7, 18, 19, 40])(
    'that lacks %i bytes is cut off, and bought again',
    async (count) => {
      const { text, tree } = await written();
      writeFileSync(path, text.subarray(0, -count));
      const model = scriptedModel({ answer: hashedAnswer });
      const journal = openJournal(path);
      const resumed = await searchOf({
        ...options(),
        ...throughModel(syntheticTree({ branching: 3 }), { model }),
        journal,
      });
      journal.close();
      expect(JSON.stringify(treeToJson(resumed.tree))).toBe(tree);
      // Of a whole line without its end nothing is lost.
      expect(model.requests).toHaveLength(count === 1 ? 0 : 1);
    },
  );

  test('of bytes that are no text is cut off where they begin', async () => {
    const { text, tree } = await written();
    appendFileSync(path, Buffer.from([0x7b, 0xff, 0xfe, 0xc3, 0x28, 0x80]));
    const journal = openJournal(path);
    // Once it has been read as a whole: what cannot be read stays as it is.
    expect([...journal.lines].length).toBeGreaterThan(2);
    journal.close();
    expect(readFileSync(path).equals(text)).toBe(true);
    const { tree: again } = await searchOf({ ...options(), journal: replayed(readJournal(path)) });
    expect(JSON.stringify(treeToJson(again))).toBe(tree);
  });
});

test('a journal of version 2, without checksums, is replayed and gone on with', async () => {
  const { text, tree } = await written();
  const old = text
    .toString()
    .replaceAll(/,"sum":"[0-9a-f]{8}"\}$/gm, '}')
    .replace(/"version":\d+/, '"version":2');
  writeFileSync(path, old);
  const { tree: replayedTree } = await searchOf({
    ...options(),
    journal: replayed(readJournal(path)),
  });
  expect(JSON.stringify(treeToJson(replayedTree))).toBe(tree);
  const journal = openJournal(path);
  const { tree: again } = await searchOf({ ...options(), journal });
  journal.close();
  expect(JSON.stringify(treeToJson(again))).toBe(tree);
});

test('the lines of a file are read when they are asked for, and not kept', async () => {
  await written();
  const journal = openJournal(path);
  const [first, second] = [[...journal.lines], [...journal.lines]];
  journal.close();
  expect(second).toEqual(first);
  expect(second[1]).not.toBe(first[1]);
});
