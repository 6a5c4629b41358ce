import * as z from 'zod/mini';
import { deepestJson, isPlainObject, jsonFault } from '../base/json.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { CountedFailure, Failure } from '../contracts/failure.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { Completion } from '../contracts/language-model.ts';
import type { NodeId, NodeStatus, PruneReason } from '../contracts/node.ts';
import type { Conclusion } from './conclusion.ts';
import { pruneReasons } from './prune-reasons.ts';
import type { RuleSpec } from './rules.ts';

/** The version of the serial form that this espalier writes and reads. */
export const treeVersion = 2;

/** A tree as JSON: its only serial form. */
export interface TreeJson {
  /** Identifies the file format. */
  readonly format: 'espalier-tree';
  /** The version of this form. */
  readonly version: number;
  /** The environment in which it grew. */
  readonly environment: string;
  /** The seed of its random numbers. */
  readonly seed: number | string;
  /** Marks that training data must carry. */
  readonly stamps: readonly string[];
  /** Simulations started on it, except those handed back. */
  readonly simulations: number;
  /** Simulations that were handed back. @defaultValue 0 */
  readonly handedBack?: number | undefined;
  /** γ. @defaultValue 1 */
  readonly discount?: number | undefined;
  /** The selection rule. @defaultValue unknown */
  readonly rule?: RuleSpec | undefined;
  /** Where the real world stood. */
  readonly cursor: number;
  /** The algorithm's preferred node before the search has found an end. */
  readonly preferred?: number | undefined;
  /** The algorithm's conclusion, if any. */
  readonly conclusion?:
    | {
        /** The chosen node. */
        readonly node: number;
        /** Whether nothing better exists among the actions that were proposed. */
        readonly optimal: boolean;
        /** The answers that were voted on. */
        readonly shares?: Conclusion<never, never>['shares'];
      }
    | undefined;
  /**
   * The simulations in the order in which they ended, as columns with one entry per simulation: at most 64 bytes each.
   * Columns of zeros are left out.
   *
   * @defaultValue none
   */
  readonly log?:
    | {
        /** The ids of the nodes at which they ended. */
        readonly leaves: readonly NodeId[];
        /** Their returns. */
        readonly returns: readonly (number | null)[];
        /** Their calls. */
        readonly calls?: readonly number[] | undefined;
        /** Their tokens. */
        readonly tokens?: readonly number[] | undefined;
      }
    | undefined;
  /** In the order of their ids; the first is the root. */
  readonly nodes: readonly NodeJson[];
}

/** A node as JSON. Missing fields have their defaults. */
export interface NodeJson {
  /** The id of the parent; none at the root. */
  readonly parent?: number | undefined;
  /** a; none at the root. */
  readonly action?: JsonValue | undefined;
  /** Present if the action has been taken. */
  readonly state?: JsonValue | undefined;
  /** P(s, a). @defaultValue 1 */
  readonly prior?: number | undefined;
  /** r(s, a). */
  readonly reward?: number | undefined;
  /** c(s, a). */
  readonly cost?: number | undefined;
  /** N. @defaultValue 0 */
  readonly visits?: number | undefined;
  /** Q. @defaultValue 0 */
  readonly value?: number | undefined;
  /** @defaultValue `'open'` */
  readonly status?: NodeStatus | undefined;
  /** Whether a closed node is fully explored. */
  readonly exact?: boolean | undefined;
  /** Why it was pruned. */
  readonly pruned?: PruneReason | undefined;
  /** The sibling that it duplicates. */
  readonly duplicateOf?: number | undefined;
  /** Whether the state ends the episode. */
  readonly terminal?: boolean | undefined;
  /** Whether it is a complete answer. */
  readonly answer?: boolean | undefined;
  /** Whether no further child will be added. */
  readonly complete?: boolean | undefined;
  /** Samples requested here. */
  readonly samples?: number | undefined;
  /** The evaluations, one per sample. */
  readonly evaluations?: readonly Evaluation[] | undefined;
  /** The return of a simulation from here. */
  readonly outcome?: Evaluation | undefined;
  /** Why it failed. */
  readonly failure?: Failure | undefined;
  /** Failed proposals for children. */
  readonly failedProposals?: readonly CountedFailure[] | undefined;
  /** Failed further evaluation samples. */
  readonly failedEvaluations?: readonly CountedFailure[] | undefined;
  /** The model output behind the action. */
  readonly completion?: Completion | undefined;
  /** Notes of algorithms, by name. */
  readonly notes?: Readonly<Record<string, JsonValue>> | undefined;
  /** Notes of users. */
  readonly annotations?: Readonly<Record<string, JsonValue>> | undefined;
}

/** States and actions belong to the environment: they only have to be JSON. */
const json: z.ZodMiniType<JsonValue> = z.custom<JsonValue>(
  (value) => jsonFault(value) === undefined,
  `expected JSON, at most ${deepestJson} deep`,
);
/** Any name is allowed, including `__proto__`, which a record would drop. */
const named = json.check(z.refine(isPlainObject, 'expected an object'));
const count = z.int().check(z.minimum(0));
const flag = z.optional(z.boolean());

// A plug-in may add fields that we do not know; none are lost.
const evaluation = z.looseObject({
  value: z.number(),
  about: z.optional(z.enum(['action', 'state'])),
});
const failure = { kind: z.string(), message: z.string() };

const nodeSchema = z.strictObject({
  parent: z.optional(count),
  action: z.optional(json),
  state: z.optional(json),
  prior: z.optional(z.number().check(z.minimum(0))),
  reward: z.optional(z.number()),
  cost: z.optional(z.number().check(z.minimum(0))),
  visits: z.optional(count),
  value: z.optional(z.number()),
  status: z.optional(z.enum(['open', 'terminal', 'closed', 'failed', 'pruned'])),
  exact: flag,
  pruned: z.optional(z.enum(pruneReasons)),
  duplicateOf: z.optional(count),
  terminal: flag,
  answer: flag,
  complete: flag,
  samples: z.optional(count),
  evaluations: z.optional(z.array(evaluation).check(z.minLength(1))),
  outcome: z.optional(evaluation),
  failure: z.optional(z.looseObject(failure)),
  failedProposals: z.optional(z.array(z.looseObject({ ...failure, count }))),
  failedEvaluations: z.optional(z.array(z.looseObject({ ...failure, count }))),
  completion: z.optional(z.looseObject({ text: z.string() })),
  notes: z.optional(named),
  annotations: z.optional(named),
});

const logSchema = z
  .strictObject({
    leaves: z.array(count),
    returns: z.array(z.nullable(z.number())),
    calls: z.optional(z.array(count)),
    tokens: z.optional(z.array(count)),
  })
  .check(
    z.refine(
      ({ leaves, ...columns }) =>
        Object.values(columns).every((column) => column?.length === leaves.length),
      'expected columns of equal length',
    ),
  );

const shares = z.array(
  z.strictObject({
    answer: json,
    share: z.number().check(z.minimum(0), z.maximum(1)),
    nodes: z.array(count).check(z.minLength(1)),
  }),
);

/** The schema of a saved tree. */
export const treeSchema: z.ZodMiniType = z.strictObject({
  format: z.literal('espalier-tree'),
  version: z.literal(treeVersion),
  environment: z.string(),
  seed: z.union([z.number(), z.string()]),
  stamps: z.array(z.string()),
  simulations: count,
  handedBack: z.optional(count),
  discount: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
  rule: z.optional(z.strictObject({ name: z.string(), options: z.record(z.string(), json) })),
  cursor: count,
  preferred: z.optional(count),
  conclusion: z.optional(
    z.strictObject({ node: count, optimal: z.boolean(), shares: z.optional(shares) }),
  ),
  log: z.optional(logSchema),
  nodes: z.array(nodeSchema).check(z.minLength(1)),
});
