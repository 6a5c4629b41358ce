import { EspalierError } from '../../base/errors.ts';
import { expectText } from '../../base/expect.ts';
import { deepestJson } from '../../base/json.ts';

/** Expressions in parentheses, and the place of the opening one, such as `line 3, column 5`. */
export interface List {
  readonly kind: 'list';
  readonly items: readonly Expression[];
  readonly place: string;
}

/** What a PDDL file consists of: lists, and words in lower case. */
export type Expression =
  | List
  | { readonly kind: 'atom'; readonly text: string; readonly place: string };

/**
 * Reads a PDDL text, which is one list. Comments, case and white space do not matter.
 *
 * @throws EspalierError `usage` with the place of the first parenthesis or word that does not fit.
 */
export function readPddl(text: string): List {
  expectText('text', text);
  const top: Expression[] = [];
  const open: OpenList[] = [];
  for (const { word, place } of readTokens(text)) {
    if (word === '(') {
      expectRoom(open, place);
      open.push({ items: [], place });
    } else if (word === ')') {
      const closed = open.pop();
      if (closed === undefined) throw unexpected('`(` first', word, place);
      (open.at(-1)?.items ?? top).push({ kind: 'list', ...closed });
    } else {
      (open.at(-1)?.items ?? top).push({ kind: 'atom', text: word.toLowerCase(), place });
    }
  }

  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw atEnd(`\`)\` for the \`(\` at ${unclosed.place}`);
  const [root, extra] = top;
  if (root === undefined) throw atEnd('`(define (problem …) …)`');
  if (root.kind === 'atom') throw pddlError('`(define (problem …) …)`', root);
  if (extra !== undefined) throw pddlError('nothing after the problem', extra);
  return root;
}

/** Limits the nesting, because lists are processed recursively. */
function expectRoom(open: readonly OpenList[], place: string): void {
  if (open.length < deepestJson) return;
  throw unexpected(`at most ${deepestJson} lists within each other`, '(', place);
}

type OpenList = Pick<List, 'place'> & { readonly items: Expression[] };

const token = /\n|;[^\n]*|[()]|[^\s();]+/g;

function* readTokens(text: string): Generator<Readonly<Record<'place' | 'word', string>>> {
  let line = 1;
  let lineStart = 0;
  for (const { 0: word, index } of text.matchAll(token)) {
    if (word === '\n') {
      line += 1;
      lineStart = index + 1;
    } else if (!word.startsWith(';')) {
      yield { word, place: `line ${line}, column ${index - lineStart + 1}` };
    }
  }
}

/** A usage error that names the expected expression. */
export function pddlError(expected: string, got: Expression): EspalierError {
  const text = write(got);
  return unexpected(expected, text.length > 60 ? `${text.slice(0, 59)}…` : text, got.place);
}

/** Whether an expression is a certain word. */
export function isWord(expression: Expression | undefined, text: string): boolean {
  return expression?.kind === 'atom' && expression.text === text;
}

function write(expression: Expression): string {
  return expression.kind === 'atom'
    ? expression.text
    : `(${expression.items.map(write).join(' ')})`;
}

function unexpected(expected: string, got: string, place: string): EspalierError {
  return new EspalierError('usage', `Expected ${expected}, got \`${got}\` at ${place}.`);
}

function atEnd(expected: string): EspalierError {
  return new EspalierError('usage', `Expected ${expected}, got the end of the text.`);
}
