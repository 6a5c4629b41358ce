import type { PairDepth } from '../pair-depths.ts';
import type { CountTokens } from './tokenizer.ts';

/** What an audit can find, as a closed list. */
export type AuditCode =
  | 'boundary-space'
  | 'contradiction'
  | 'duplicate'
  | 'empty-list'
  | 'empty-side'
  | 'eos-asymmetry'
  | 'equal-sides'
  | 'idle-pairs'
  | 'implicit-prompt'
  | 'int-and-float'
  | 'invalid-call'
  | 'invalid-role'
  | 'invalid-tools'
  | 'invalid-utf8'
  | 'keys-differ'
  | 'label-balance'
  | 'label-count'
  | 'label-type'
  | 'leakage'
  | 'length-bias'
  | 'lost-character'
  | 'low-margin'
  | 'missing-column'
  | 'missing-prompt'
  | 'mixed-types'
  | 'near-duplicate'
  | 'negative-margin'
  | 'no-rows'
  | 'not-json'
  | 'null-content'
  | 'prompt-differs'
  | 'prompt-repeated'
  | 'prompt-too-long'
  | 'row-too-long'
  | 'separator-in-step'
  | 'shared-prompt'
  | 'tools-missing'
  | 'undeclared-tool'
  | 'unknown-format'
  | 'unreadable-file'
  | 'wrong-type';

/** How bad a finding is, and what is wrong and what to do, in one sentence. */
type AuditRule = Pick<AuditFinding, 'message' | 'severity'>;

const error = (message: string): AuditRule => ({ severity: 'error', message });
const warning = (message: string): AuditRule => ({ severity: 'warning', message });

/** All that an audit can find. */
export const auditRules: Readonly<Record<AuditCode, AuditRule>> = {
  'boundary-space': warning(
    'White space where prompt and completion meet, or a word that goes on there: end the prompt with a line break or let both completions start with the same one blank.',
  ),
  contradiction: error(
    'The same two completions are also there the other way round: keep the pair with the greater margin.',
  ),
  duplicate: warning('The same row is there more than once: keep one.'),
  'empty-list': error(
    'An empty list where a conversation or steps should be, on which trainers fail: leave the row out.',
  ),
  'empty-side': error('A side is empty or white space only: leave the row out.'),
  'eos-asymmetry': warning(
    'Only one side of the pair ends the answer, so that the end token alone may tell them apart: compare like with like, or train without appending one.',
  ),
  'equal-sides': error(
    'Both sides are the same text, so that nothing is learnt: leave the row out.',
  ),
  'idle-pairs': warning(
    'Most pairs part at the last step, where only runs come that were not lost before, or set wrong against wrong, and teach little of what loses runs: balance them over depths, and require a right chosen side.',
  ),
  'implicit-prompt': warning(
    'The prompt stands inside both sides, and words that they share move into it: write a column `prompt`.',
  ),
  'int-and-float': warning(
    'A column holds whole and decimal numbers: write all with a decimal point, so that every part of the file has one type.',
  ),
  'invalid-call': error(
    'A call of a tool has no name, or arguments that are no JSON object, on which templates fail: write it again, or leave the row out.',
  ),
  'invalid-role': error(
    'Turns with a role that trainers refuse or out of turn: use known roles, and let user and assistant alternate for LLaMA-Factory.',
  ),
  'invalid-tools': error(
    'The column `tools` is no list of tools, as JSON or as JSON text: write it again.',
  ),
  'invalid-utf8': error(
    'Text that is no UTF-8, or half of a character, which loaders refuse or change: write the file as UTF-8.',
  ),
  'keys-differ': warning('Rows have different columns: give each row all of them.'),
  'label-balance': warning(
    'Fewer than one label in ten is of one kind: weigh the kinds in the loss, or balance the rows; where one kind is missing, the source may hold right solutions only.',
  ),
  'label-count': error('The numbers of steps and of labels differ: write one label for each step.'),
  'label-type': error(
    'A label is no boolean, and trainers cut 0.9 to 0: write `true` or `false`, ratings as −1, 0 or 1.',
  ),
  leakage: error('The same problem is in two splits: split by problem, never by row.'),
  'length-bias': warning(
    'The chosen side is longer too often, and length may be all that is learnt: filter by length ratio.',
  ),
  'lost-character': warning(
    'Text holds U+FFFD, which stands for bytes that could not be read: read its source again, in the encoding that it has.',
  ),
  'low-margin': error('The margin is below the one that was asked for: leave the row out.'),
  'missing-column': error('A column that the form needs is missing: write it in each row.'),
  'missing-prompt': error('The prompt is missing or empty: write it in each row.'),
  'mixed-types': error(
    'A column holds values of different types, which loaders refuse: use one type a column.',
  ),
  'near-duplicate': warning(
    'A row is nearly the same as one before it, in words and in all numbers: keep one.',
  ),
  'negative-margin': error('The chosen side scores less than the rejected one: swap the sides.'),
  'no-rows': warning('A file holds no rows: leave it out.'),
  'not-json': error(
    'A line is not JSON: write it again; a broken last line means that the file was cut off.',
  ),
  'null-content': error('A text is `null`: write text, or leave the row out.'),
  'prompt-differs': error(
    'The two sides do not answer the same prompt, byte by byte: write one column `prompt` for both.',
  ),
  'prompt-repeated': warning(
    'The sides repeat the prompt that stands in a column of its own: leave it out of one of the two.',
  ),
  'prompt-too-long': warning(
    'The prompt alone, with its tools, fills the context, and trainers drop such rows silently: raise the limit or shorten it.',
  ),
  'row-too-long': warning(
    'Prompt and answer together are longer than the trainer takes, and it cuts off the end, where the answer stands: raise the limit, or leave the row out.',
  ),
  'separator-in-step': error(
    'A step holds the separator that ends steps: choose another separator, or replace it in the text.',
  ),
  'shared-prompt': warning(
    'A prompt is in two splits, under different problems that come to the same state: leave such rows out of the test split where it should hold unseen prompts only.',
  ),
  'tools-missing': warning(
    'Turns call tools, and the row offers none: write a column `tools`, which templates need.',
  ),
  'undeclared-tool': error(
    'The prompt or the chosen side calls a tool that the row does not offer: offer it in `tools`, or leave the row out.',
  ),
  'unknown-format': error(
    'The columns are of no known form: rename them to those of the trainer, such as `prompt`, `chosen`, `rejected`.',
  ),
  'unreadable-file': error('A file cannot be read: write it again.'),
  'wrong-type': error('A column holds neither text nor turns: write one of the two.'),
};

/** Something wrong with one row. */
export interface RowFault {
  readonly code: AuditCode;
  /** What to show of it. */
  readonly excerpt: unknown;
}

/** What an audit says. */
export interface AuditReport {
  /** What was read. */
  readonly path: string;
  /** What lengths were counted with: the tokenizer; `undefined` where four bytes were taken for a token. */
  readonly tokenizer: string | undefined;
  /** What it holds: the rows of each configuration and split. */
  readonly sets: readonly {
    /** The configuration. */
    readonly config: string;
    /** The split. */
    readonly split: string;
    /** The forms that were recognised, such as `trl-preference`. */
    readonly formats: readonly string[];
    /** How many files. */
    readonly files: number;
    /** How many rows could be read. */
    readonly rows: number;
    /** Distinct texts, label shares, lengths and margins. */
    readonly facts: readonly {
      /** What it is, in words. */
      readonly name: string;
      /** The number. */
      readonly value: number;
    }[];
    /** Pairs by the depth at which their sides part, where a column `depth` tells it. */
    readonly depths: readonly PairDepth[];
  }[];
  /** What was found: errors first. */
  readonly findings: readonly {
    /** What. */
    readonly code: AuditCode;
    /** How bad it is. Errors make training fail or go wrong; warnings may. */
    readonly severity: 'error' | 'warning';
    /** What is wrong and what to do, in one sentence. */
    readonly message: string;
    /** The configuration in which it was found. */
    readonly config: string;
    /** How often. */
    readonly count: number;
    /** The first places, at most three: `file:line`, and what stands there, short and with control characters escaped. */
    readonly examples: readonly Readonly<Record<'excerpt' | 'place', string>>[];
  }[];
  /** How many findings are errors. */
  readonly errors: number;
  /** How many findings are warnings. */
  readonly warnings: number;
}

export type AuditFinding = AuditReport['findings'][number];
export type AuditSet = AuditReport['sets'][number];

/** What rows are held to. */
export interface AuditLimits {
  /** By how much the chosen side must be better at least, where that was asked. */
  readonly minMargin: number | undefined;
  readonly maxLength: number;
  readonly separator: string;
  readonly countTokens: CountTokens;
}
