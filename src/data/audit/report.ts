import type { PairDepth } from '../pair-depths.ts';
import type { CountTokens } from './tokenizer.ts';

/** What an audit can find, as a closed list. */
export type AuditCode =
  | 'alike-sides'
  | 'boundary-space'
  | 'contradiction'
  | 'control-character'
  | 'double-escape'
  | 'doubled-token'
  | 'duplicate'
  | 'empty-answer'
  | 'empty-list'
  | 'empty-side'
  | 'eos-asymmetry'
  | 'eos-partly'
  | 'equal-sides'
  | 'extra-key'
  | 'few-rows'
  | 'idle-pairs'
  | 'image-count'
  | 'implicit-prompt'
  | 'int-and-float'
  | 'invalid-arguments'
  | 'invalid-call'
  | 'invalid-role'
  | 'invalid-tools'
  | 'invalid-utf8'
  | 'invalid-weight'
  | 'keys-differ'
  | 'label-balance'
  | 'label-conflict'
  | 'label-count'
  | 'label-type'
  | 'leakage'
  | 'leaked-answer'
  | 'length-bias'
  | 'line-too-long'
  | 'lost-character'
  | 'low-margin'
  | 'missing-column'
  | 'missing-image'
  | 'missing-prompt'
  | 'misspelt-column'
  | 'mixed-types'
  | 'mojibake'
  | 'near-duplicate'
  | 'negative-margin'
  | 'no-images'
  | 'no-rows'
  | 'no-value'
  | 'not-json'
  | 'null-content'
  | 'one-answer'
  | 'prompt-continues'
  | 'prompt-differs'
  | 'prompt-repeated'
  | 'prompt-too-long'
  | 'refusal'
  | 'repeated-key'
  | 'repetition'
  | 'row-too-long'
  | 'separator-in-step'
  | 'shared-prompt'
  | 'template-token'
  | 'text-conversation'
  | 'tool-schema'
  | 'tools-missing'
  | 'turn-order'
  | 'unanswered-call'
  | 'unclosed-thought'
  | 'undeclared-tool'
  | 'unfilled-placeholder'
  | 'unknown-format'
  | 'unmatched-result'
  | 'unreadable-file'
  | 'unsupported-file'
  | 'wrong-type'
  | 'zero-margin';

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
