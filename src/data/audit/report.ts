import type { PairDepth } from '../pair-depths.ts';
import type { CountTokens } from './tokenizer.ts';

/** The codes of audit findings. */
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
  | 'number-too-large'
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

/** The report of an audit. */
export interface AuditReport {
  /** The path that was read. */
  readonly path: string;
  /** The tokenizer used for lengths; `undefined` if four bytes counted as a token. */
  readonly tokenizer: string | undefined;
  /** The rows of each configuration and split. */
  readonly sets: readonly {
    /** The configuration. */
    readonly config: string;
    /** The split. */
    readonly split: string;
    /** The forms that were recognised, such as `trl-preference`. */
    readonly formats: readonly string[];
    /** The number of files. */
    readonly files: number;
    /** The number of readable rows. */
    readonly rows: number;
    /** Distinct texts, label shares, lengths and margins. */
    readonly facts: readonly {
      /** The name, in words. */
      readonly name: string;
      /** The number. */
      readonly value: number;
    }[];
    /** Pairs by the depth at which their sides diverge, if there is a column `depth`. */
    readonly depths: readonly PairDepth[];
  }[];
  /** The findings, errors first. */
  readonly findings: readonly {
    /** What. */
    readonly code: AuditCode;
    /** The severity. Errors make training fail or go wrong; warnings may. */
    readonly severity: 'error' | 'warning';
    /** The fault and the remedy, in one sentence. */
    readonly message: string;
    /** The configuration with the finding. */
    readonly config: string;
    /** The number of occurrences. */
    readonly count: number;
    /**
     * The first occurrences, at most three: `file:line`, with a short excerpt in which control characters are escaped.
     */
    readonly examples: readonly Readonly<Record<'excerpt' | 'place', string>>[];
  }[];
  /** The number of errors. */
  readonly errors: number;
  /** The number of warnings. */
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
