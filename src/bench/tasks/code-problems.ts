import type { Random } from '../../contracts/context.ts';
import { oneOf } from './drawn-questions.ts';

/** A call of the function with what it has to return. */
export interface CodeTest {
  readonly input: readonly number[];
  readonly output: number | readonly number[];
}

/** A function to write, with tests. */
export interface DrawnCode {
  /** What the function `solve` does, in words. */
  readonly text: string;
  /** Tests that the one who writes it may see. */
  readonly visible: readonly CodeTest[];
  /** Tests that only score it. */
  readonly hidden: readonly CodeTest[];
}

interface Part<Result> {
  readonly text: string;
  does(numbers: readonly number[]): Result;
}

const stages: readonly [Stage, ...Stage[]] = [
  (random) => {
    const n = between(random, 2, 5);
    return {
      text: `keep only the numbers that ${n} divides`,
      does: (all) => all.filter((one) => one % n === 0),
    };
  },
  (random) => {
    const n = between(random, -5, 10);
    return {
      text: `keep only the numbers above ${n}`,
      does: (all) => all.filter((one) => one > n),
    };
  },
  (random) => {
    const n = between(random, 2, 9);
    return { text: `multiply each number by ${n}`, does: (all) => all.map((one) => one * n) };
  },
  (random) => {
    const n = between(random, 1, 9);
    return { text: `take ${n} from each number`, does: (all) => all.map((one) => one - n) };
  },
  () => ({
    text: 'add to each number its place in the list, counted from 0',
    does: (all) => all.map((one, place) => one + place),
  }),
  () => ({
    text: 'replace each number by the sum of it and all numbers before it',
    does: (all) => all.map((_, place) => sum(all.slice(0, place + 1))),
  }),
  () => ({
    text: 'drop each number that has occurred before',
    does: (all) => all.filter((one, place) => all.indexOf(one) === place),
  }),
  () => ({
    text: 'sort the numbers from the greatest down',
    does: (all) => all.toSorted((a, b) => b - a),
  }),
  () => ({ text: 'reverse the list', does: (all) => all.toReversed() }),
  () => ({
    text: 'keep only the numbers at even places, the first of which is 0',
    does: (all) => all.filter((_, place) => place % 2 === 0),
  }),
];

const ends: readonly [Part<CodeTest['output']>, ...Part<CodeTest['output']>[]] = [
  { text: 'return the list', does: (all) => all },
  { text: 'return the sum, which is 0 for an empty list', does: sum },
  { text: 'return how many numbers there are', does: (all) => all.length },
  {
    text: 'return the greatest number, and -1 for an empty list',
    does: (all) => all.reduce((one, other) => Math.max(one, other), all[0] ?? -1),
  },
];

type Stage = (random: Random) => Part<readonly number[]>;

/** A function over a list of integers, in `steps` stages. */
export function drawCode(random: Random, steps: number): DrawnCode {
  const parts = Array.from({ length: steps }, () => oneOf(random, stages)(random));
  const end = oneOf(random, ends);
  const listed = [...parts, end].map(({ text }, place) => `${place + 1}. ${text}`);
  const run = (input: readonly number[]) =>
    end.does(parts.reduce((numbers, part) => part.does(numbers), input));
  const tests = [[], ...Array.from({ length: 14 }, () => drawList(random))].map((input) => ({
    input,
    output: run(input),
  }));
  return {
    text: `Write a JavaScript function solve(numbers) that takes a list of integers and does this, in order:\n${listed.join('\n')}\nIt leaves the list that it is given as it is.`,
    visible: tests.slice(1, 4),
    hidden: [...tests.slice(0, 1), ...tests.slice(4)],
  };
}

function drawList(random: Random): readonly number[] {
  return Array.from({ length: between(random, 1, 9) }, () => between(random, -20, 30));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function between(random: Random, low: number, high: number): number {
  return low + random.integer(high - low + 1);
}
