import { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { describeValue } from '../base/expect.ts';
import { isPlainObject } from '../base/json.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { Verifier } from '../contracts/verifier.ts';
import { answerOracle, type ReasoningState } from '../environments/index.ts';
import { goldVerifier } from '../values/gold-verifier.ts';
import { readInput } from './input-file.ts';
import { ownProblem } from './own-problem.ts';
import { type Problem, puzzleProblem, type ShownEnvironment } from './problem.ts';
import { questionProblem } from './question.ts';
import { taskNames } from './tasks.ts';

/** A problem as requested: a question, a puzzle, or the input of a user's own environment. Plain JSON. */
export interface AskedProblem {
  /** Its id; equal problems of one file need different ids. */
  readonly id: string;
  /** The question, in words. */
  readonly question?: string | undefined;
  /** Its known answer. */
  readonly answer?: string | undefined;
  /** The puzzle instead. */
  readonly task?: (typeof taskNames)[number] | undefined;
  /** The puzzle in its usual form, or the input of a user's own environment. */
  readonly input?: string | undefined;
}

const text = z.string().refine((value) => value.trim() !== '', 'a text that is not empty');
/** A number as a text, unless JSON has rounded it. */
const number = z
  .number()
  .refine((value) => Number.isSafeInteger(value) || !Number.isInteger(value))
  .transform(String);
/** A text, or a number as a text, such as an id or an answer; `null` counts as left out. */
export const lineName: z.ZodType<string | undefined> = z
  .union([z.string(), number, z.null().transform(() => undefined)])
  .optional();
const id = lineName;
const ownSchema = z.object({ input: text, id });
const lineSchema = z.union([
  z.object({ question: text, answer: lineName, id }),
  z.object({ task: z.enum(taskNames).optional(), input: text, id }),
]);

/**
 * Reads a file of problems, one per line: `{"question": …, "answer": …}` or `{"task": …, "input": …}` as JSON, each
 * with an optional `id`; if a task is given, also the bare input of a puzzle, as text or as a JSON text.
 *
 * @param task - The puzzle of lines that name none; `'own'` if all are inputs of the user's own environment.
 * @throws EspalierError `usage`, naming the line.
 */
export function readProblems(
  path: string,
  task: AskedProblem['task'] | 'own',
): readonly AskedProblem[] {
  const lines = readInput(path).split('\n');
  const asked = lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const problem = parseLine(line, { path, task, number: index + 1 });
    try {
      if (task !== 'own') problemOf(problem);
    } catch (cause) {
      if (!EspalierError.isInstance(cause)) throw cause;
      throw fault({ path, number: index + 1 }, cause.message, cause);
    }
    return [{ ...problem, number: index + 1 }];
  });
  if (asked.length === 0) {
    throw new EspalierError('usage', `Expected problems in \`${path}\`, got none.`);
  }
  expectDifferent(path, asked);
  return asked.map(({ number: _, ...problem }) => problem);
}

/**
 * Makes the problem to search.
 *
 * @param environment - The user's own environment, if the problem belongs to one.
 * @throws EspalierError `usage` if it belongs to one and none is given.
 */
export function problemOf(
  { id: name, question, task, input }: AskedProblem,
  environment?: ShownEnvironment,
): Problem {
  if (environment !== undefined) return ownProblem(environment, { id: name, input });
  if (question !== undefined) return questionProblem(question);
  if (task !== undefined && input !== undefined) return puzzleProblem(task, input);
  throw new EspalierError(
    'usage',
    `The problem ${JSON.stringify(name)} is one of an environment of your own, which is not known here: only \`search\`, \`generate\` and \`export\` take \`--environment\`.`,
  );
}

/** The verifier from the known answer; `undefined` if none is known. */
export function outcomeOf({ question, answer }: AskedProblem): Verifier<unknown> | undefined {
  if (question === undefined || answer === undefined) return undefined;
  const verifier: Verifier<ReasoningState> = goldVerifier(answerOracle(answer));
  return verifier;
}

interface Place {
  readonly path: string;
  /** The number of the line, from 1. */
  readonly number: number;
}

interface Line extends Place {
  readonly task: AskedProblem['task'] | 'own';
}

function parseLine(line: string, { path, number, task }: Line): AskedProblem {
  if (task !== undefined && !line.trimStart().startsWith('{')) {
    const input = bareInput(line, { path, number });
    return { id: input, ...(task !== 'own' && { task }), input };
  }
  expectKnownKeys(line, { path, number });
  if (task === 'own') {
    const { input, id = input } = jsonLine(line, ownSchema, {
      ...{ path, number },
      expected: 'expected `input`, a text that the environment is made for',
    });
    return { id, input };
  }
  expectKnownTask(line, { path, number });
  const expected = `expected \`question\` (and \`answer\`), or \`task\` (${taskNames.join(', ')}) and \`input\``;
  return asAsked(jsonLine(line, lineSchema, { path, number, expected }), { path, number, task });
}

/** An input by itself: as it stands, or as a JSON text. */
function bareInput(line: string, place: Place): string {
  const written = line.trim();
  const input = written.startsWith('"') ? (parsedLine(written) ?? written) : written;
  if (typeof input === 'string' && input.trim() !== '') return input;
  throw fault(place, 'expected an input, a text that is not empty');
}

const keys: readonly string[] = ['question', 'answer', 'task', 'input', 'id'];

/**
 * Data sets may have other columns, which are ignored; misspelt ones are refused.
 *
 * @throws EspalierError `usage` for a key of five letters or more that resembles one that is missing.
 */
function expectKnownKeys(line: string, place: Place): void {
  const parsed = parsedLine(line);
  const written = Object.keys(isPlainObject(parsed) ? parsed : {});
  const missing = keys.filter((key) => !written.includes(key));
  for (const key of written) {
    const isOdd = key.length > 4 && !keys.includes(key);
    const meant = isOdd ? nearestName(key, missing) : undefined;
    if (meant !== undefined) throw fault(place, `unknown key \`${key}\`: write \`${meant}\``);
  }
}

/** @throws EspalierError `usage` for a puzzle with an unknown task. A question may have such a column. */
function expectKnownTask(line: string, place: Place): void {
  const parsed = parsedLine(line);
  const { task, question } = isPlainObject(parsed) ? parsed : {};
  const isKnown = question !== undefined || taskNames.some((name) => name === task);
  if (typeof task !== 'string' || isKnown) return;
  throw fault(place, `unknown task ${JSON.stringify(task)}: there are ${taskNames.join(', ')}`);
}

/** What is wrong with a value: a field of the wrong kind, or else the fields that it has instead. */
function wrongPart(value: unknown, { issues }: z.ZodError): string {
  const name = issues[0]?.path[0];
  const given = isPlainObject(value) && typeof name === 'string' ? value[name] : undefined;
  return given === undefined ? keysOf(value) : `${describeValue(given)} as \`${String(name)}\``;
}

/** Describes an unexpected value by the names of its fields. */
function keysOf(value: unknown): string {
  const names = isPlainObject(value) ? Object.keys(value) : [];
  return names.length === 0
    ? describeValue(value)
    : `the keys ${names.map((name) => describeValue(name).replaceAll('"', '')).join(', ')}`;
}

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/**
 * The value in a line of a file written by people.
 *
 * @throws EspalierError `usage`, naming the line.
 */
export function jsonLine<Value>(
  line: string,
  schema: z.ZodType<Value>,
  { expected, ...place }: Place & { readonly expected: string },
): Value {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw fault(place, `expected JSON, got ${describeValue(line.trim())}`, cause);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const wrong = wrongName(value) ?? `${expected}, got ${wrongPart(value, parsed.error)}`;
    throw fault(place, wrong, parsed.error);
  }
  return parsed.data;
}

function wrongName(value: unknown): string | undefined {
  const wrong = Object.entries(Object(value) as object).find(
    ([key, given]) =>
      ['id', 'cluster', 'answer'].includes(key) && !lineName.safeParse(given).success,
  );
  if (wrong === undefined) return undefined;
  const [key, given] = wrong;
  const quotes = typeof given === 'number' ? ', which JSON has rounded: write it in quotes' : '';
  return `expected \`${key}\` to be a text or a number, got ${describeValue(given)}${quotes}`;
}

function asAsked(
  data: z.infer<typeof lineSchema>,
  { task: given, ...place }: Place & Pick<AskedProblem, 'task'>,
): AskedProblem {
  if ('question' in data) {
    const { question, answer, id = question } = data;
    const gold = answer === undefined ? undefined : finalAnswer(answer);
    return { id, question, ...(gold !== undefined && { answer: gold }) };
  }
  const { input, id = input, task = given } = data;
  if (task === undefined) throw fault(place, 'expected a `task`, or `--task` for all lines');
  return { id, task, input };
}

/** Data sets such as GSM8K put the final answer after `####`, preceded by the solution. */
export function finalAnswer(answer: string): string | undefined {
  const final = (answer.split('####').at(-1) ?? '').trim();
  return final === '' ? undefined : final;
}

/**
 * Refuses problems with duplicate ids.
 *
 * @throws EspalierError `usage`, naming the file and both lines.
 */
export function expectDifferent(
  path: string,
  asked: readonly { readonly id: string; readonly number: number }[],
): void {
  const lines = new Map<string, number>();
  for (const { id, number } of asked) {
    const first = lines.get(id);
    lines.set(id, number);
    if (first === undefined) continue;
    const short = id.length > 60 ? `${id.slice(0, 57)}…` : id;
    const message = `Expected problems of \`${path}\` to have different ids, got ${JSON.stringify(short)} in lines ${first} and ${number}.`;
    throw new EspalierError('usage', message);
  }
}

function fault({ path, number }: Place, what: string, cause?: unknown): EspalierError {
  const message = `Line ${number} of \`${path}\`: ${what.replace(/\.$/, '')}.`;
  return new EspalierError('usage', message, { cause });
}
