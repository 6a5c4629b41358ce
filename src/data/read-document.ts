import { z } from 'zod';
import { EspalierError } from '../base/errors.ts';
import { expectText } from '../base/expect.ts';

/** The location of a document. */
export interface Place {
  /** The file or the format, as it is named in a sentence. */
  readonly name: string;
  /** The line, from 1; left out where the document is a whole file. */
  readonly line?: number;
}

/** The result for each line of a text that is not empty. */
export function readLines<Made>(
  name: string,
  text: string,
  read: (line: string, place: Place & { readonly line: number }) => Made,
): readonly Made[] {
  expectText('text', text);
  return text
    .split('\n')
    .flatMap((each, index) =>
      each.trim() === '' ? [] : [read(each.trim(), { name, line: index + 1 })],
    );
}

/**
 * A JSON document that must have a shape.
 *
 * @throws EspalierError `usage`, naming the line and the field.
 */
export function readDocument<Shape>(text: string, schema: z.ZodType<Shape>, place: Place): Shape {
  const parsed = schema.safeParse(parseJson(text, place));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unreadable(place, issue?.path ?? [], issue?.message ?? 'it has another shape');
}

/**
 * A node and all nodes below it, looked at one after the other: a file may be nested deeper than the call stack.
 *
 * @param own - What a node must be, with `children` of any shape.
 */
export function nestedNodes<Node extends { readonly children: readonly Node[] }>(
  own: z.ZodType<Omit<Node, 'children'> & { children: readonly unknown[] }>,
): z.ZodType<Node> {
  return z.unknown().transform((root, context): Node => {
    const top: { children: readonly unknown[] } = { children: [root] };
    const open: { readonly at: typeof top; readonly trail: Trail<number> | undefined }[] = [
      { at: top, trail: undefined },
    ];
    for (const { at, trail } of open) {
      const children: unknown[] = [];
      for (const [index, child] of at.children.entries()) {
        const parsed = own.safeParse(child);
        const place = { before: trail, last: index };
        if (!parsed.success) {
          const [{ path = [], message = '' } = {}] = parsed.error.issues;
          context.addIssue({ code: 'custom', message, path: [...pathOf(place), ...path] });
          return z.NEVER;
        }
        children.push(parsed.data);
        open.push({ at: parsed.data, trail: place });
      }
      at.children = children;
    }
    return top.children[0] as Node;
  });
}

/** The fields that lead from the root to a node. The root is the only child of nothing. */
export function pathOf(trail: Trail<number> | undefined): readonly PropertyKey[] {
  return listOf(trail)
    .slice(1)
    .flatMap((index) => ['children', index]);
}

/** More fields than this are not told. */
const longestPath = 40;

/** What is wrong with a document, in one sentence. */
export function unreadable(
  { name, line }: Place,
  path: readonly PropertyKey[],
  what: string,
): EspalierError {
  const where = line === undefined ? '' : `line ${line}, `;
  const half = longestPath / 2;
  const told =
    path.length > longestPath ? [...path.slice(0, half), '…', ...path.slice(-half)] : path;
  const field = path.length === 0 ? 'the whole' : `field \`${told.map(String).join('.')}\``;
  return new EspalierError('usage', `The ${name} cannot be read: ${where}${field}: ${what}.`);
}

/** An escape of JSON; the group is an unpaired half of a character. */
const escapes =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)/g;

/** The first half of a character that a document holds without the other half: UTF-8 has no bytes for it. */
function loneHalf(text: string): string | undefined {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return undefined;
  for (const [written, half] of text.matchAll(escapes)) if (half !== undefined) return written;
  return undefined;
}

function parseJson(text: string, place: Place): unknown {
  const half = loneHalf(text);
  if (half !== undefined) throw unreadable(place, [], `it holds half of a character, \`${half}\``);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { name, line } = place;
    const where = line === undefined ? 'it' : `line ${line}`;
    const message = `The ${name} cannot be read: ${where} is not JSON. Was the file cut off?`;
    throw new EspalierError('usage', message, { cause });
  }
}

/**
 * The way to a place in a tree, shared by all ways that go on from there: the memory that copies take would grow with
 * the square of the depth.
 */
export interface Trail<Value> {
  /** The way to the place before; left out at the first. */
  readonly before: Trail<Value> | undefined;
  readonly last: Value;
}

/** A start with the steps that were met on a way, listed when they are asked for. */
export function stateAfter<Start extends object, Step>(
  start: Start,
  steps: Trail<Step>,
): Start & { readonly steps: readonly Step[] } {
  return {
    ...start,
    get steps() {
      return listOf(steps);
    },
  };
}

/** Whether no step leads to a state, without listing those that lead to one of {@link stateAfter}. */
export function isStart(state: { readonly steps: readonly unknown[] }): boolean {
  const { get } = Object.getOwnPropertyDescriptor(state, 'steps') ?? {};
  return get === undefined && state.steps.length === 0;
}

/** What was met on the way, in order. */
export function listOf<Value>(trail: Trail<Value> | undefined): readonly Value[] {
  const met: Value[] = [];
  for (let at = trail; at !== undefined; at = at.before) met.push(at.last);
  return met.reverse();
}
