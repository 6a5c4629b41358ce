import type { Environment, Notation, Transition } from '../../contracts/environment.ts';
import type { Oracle } from '../../contracts/verifier.ts';

/** A function to write, with tests. */
export interface CodeProblem {
  /** The task's name. */
  readonly name: string;
  /** The request, with everything the model may see. */
  readonly text: string;
  /** The label of a code block in that language, such as `js`. */
  readonly language: string;
  /** The function to write. */
  readonly entry: string;
  /** Runs the tests that the model may see. */
  shown(code: string): Promise<readonly CodeResult[]>;
  /** Runs the tests that only score it. */
  hidden(code: string): Promise<readonly CodeResult[]>;
}

/** The result of a test. */
export interface CodeResult {
  readonly isRight: boolean;
  /** The result as a sentence without a full stop. */
  readonly line: string;
}

/** A requested function and the latest attempt at it. Plain JSON. */
export interface CodeState {
  readonly text: string;
  /** The latest attempt. Left out: there is none yet. */
  readonly code?: string;
  /** Results of the shown tests, one line each. */
  readonly report?: readonly string[];
  /** The number of attempts so far. */
  readonly attempts: number;
}

/** The maximum number of attempts. */
const mostAttempts = 4;
/** The maximum length of an attempt, in characters. */
const longestCode = 20_000;

/**
 * An action is a complete function, since part of one cannot be tested. A function that passes the shown tests ends the
 * search path; any other is an answer that may be revised with the results of the tests.
 */
export function codeEnvironment(problem: CodeProblem): Environment<CodeState, string> {
  return {
    name: problem.name,
    reset: () => ({ state: { text: problem.text, attempts: 0 } }),
    async step(state, action): Promise<Transition<CodeState>> {
      const results = await problem.shown(action);
      const passed = results.filter(({ isRight }) => isRight).length;
      const report = results.map(({ line }) => line);
      const next = { ...state, code: action, report, attempts: state.attempts + 1 };
      const isEnd = passed === results.length || next.attempts === mostAttempts;
      // Without a shown test there is nothing to judge by before the oracle does.
      const reward = results.length === 0 ? undefined : passed / results.length;
      return {
        state: next,
        answer: true,
        ...(isEnd && { terminal: true, ...(reward !== undefined && { reward }) }),
      };
    },
    notation: notationOf(problem),
  };
}

/** Scores the latest attempt by the hidden tests. */
export function hiddenTests({ hidden }: CodeProblem): Oracle<CodeState> {
  return {
    async label({ code }) {
      if (code === undefined) return { correct: false, rationale: 'There is no function.' };
      const results = await hidden(code);
      const passed = results.filter(({ isRight }) => isRight).length;
      return { correct: passed === results.length, score: passed / results.length };
    },
  };
}

function notationOf({ language, entry }: CodeProblem): Notation<CodeState, string> {
  const format = (action: string) => `\`\`\`${language}\n${action}\n\`\`\``;
  return {
    prompt({ text, code, report = [] }) {
      if (code === undefined) return [{ role: 'user', content: text }];
      return [
        { role: 'user', content: text },
        { role: 'assistant', content: format(code) },
        {
          role: 'user',
          content: `${report.join('\n')}\n\nFix it: answer with the complete function.`,
        },
      ];
    },
    format,
    parse(text) {
      const action = codeIn(text, entry);
      if (action === undefined) return unread(`Expected a function \`${entry}\`.`);
      if (action.length > longestCode) {
        return unread(`Expected at most ${longestCode} characters.`);
      }
      return { action };
    },
  };
}

/** A code block as Markdown has it; an answer that was cut off does not close its last one. */
const codeBlock = /^( {0,3})(```+|~~~+)([^\n`]*)\n([\s\S]*?)(?:^ {0,3}\2[^\S\n]*$|(?![\s\S]))/gm;

/**
 * The code of an answer: the last block that defines the function, else the first one that names it, else the first,
 * after earlier blocks of that language that do not name it, such as helpers. An answer without blocks is code if it
 * names the function.
 */
function codeIn(text: string, entry: string): string | undefined {
  const blocks = [...text.replaceAll('\r\n', '\n').matchAll(codeBlock)].map(
    ([, indent = '', , label = '', inside = '']) => {
      const code = inside.replace(new RegExp(`^ {0,${indent.length}}`, 'gm'), '');
      return { label: label.trim(), code: withoutBlankEdges(code) };
    },
  );
  const [first] = blocks;
  if (first === undefined) return text.includes(entry) ? withoutBlankEdges(text) : undefined;
  const definition = new RegExp(
    `\\b(?:def|function|class|const|let|var)\\b[ *]+${entry}\\b|^${entry} *(?::|=(?!=))`,
    'm',
  );
  const chosen =
    blocks.findLast(({ code }) => definition.test(code)) ??
    blocks.find(({ code }) => code.includes(entry)) ??
    first;
  const helpers = blocks
    .slice(0, blocks.indexOf(chosen))
    .filter(({ label, code }) => label === chosen.label && !code.includes(entry));
  return [...helpers, chosen].map(({ code }) => code).join('\n');
}

/** Without empty lines around it; an indent is part of the code. */
function withoutBlankEdges(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
}

function unread(message: string) {
  return { failure: { kind: 'parse', message } } as const;
}
