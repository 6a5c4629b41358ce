import type { JsonValue } from '../contracts/json.ts';
import type { Message, ToolDefinition } from '../contracts/language-model.ts';
import type { NodeId } from '../contracts/node.ts';
import type { TreeRecord } from './record.ts';

/** The provenance of a row. Arrays are in the order of `nodes`. */
export interface RowProvenance {
  /** The problem. */
  readonly problem: string;
  /** The tree. */
  readonly tree: string;
  /** The nodes: for a pair, the parent, the chosen and the rejected one; for a path, from the root to its end. */
  readonly nodes: readonly NodeId[];
  /** Edges from the root to where the completion starts. */
  readonly depth: number;
  /** N of each node. */
  readonly visits: readonly number[];
  /** Q of each node; for an unvisited one its evaluation, else 0. */
  readonly values: readonly number[];
  /** The parts of each value. */
  readonly parts: readonly Readonly<Record<string, number>>[];
  /** The models that took part, as `provider:modelId`, the policy's first. */
  readonly models: readonly string[];
  /** The method that grew the tree; empty if unknown. */
  readonly method: string;
  /** The rule that made the row. */
  readonly rule: string;
  /** The seed of the search. */
  readonly seed: string;
  /**
   * The source of the judgement. `oracle-guided`: the known answer was used in the search. `rewarded`: the environment
   * rewarded ends. `self-evaluated`: models judged.
   */
  readonly guidance: 'oracle-guided' | 'rewarded' | 'self-evaluated';
  /** Stamps of the tree, sorted. */
  readonly stamps: readonly string[];
}

interface RowBase {
  /**
   * The prompt. A trailing `assistant` turn is the beginning of the completion. The same for both sides of a pair;
   * never empty.
   */
  readonly prompt: readonly Message[];
  /** The tools that the model was offered. @defaultValue none */
  readonly tools?: readonly ToolDefinition[];
  /** The provenance of the row. */
  readonly provenance: RowProvenance;
  /** Additional data of a row that was read from another dataset. @defaultValue none */
  readonly extra?: Readonly<Record<string, JsonValue>>;
}

/** Two completions of one prompt, one better than the other. */
export interface PreferenceRow extends RowBase {
  /** Identifies the row. */
  readonly kind: 'preference';
  /** The better one: one turn, or the rest of a conversation. */
  readonly chosen: readonly Message[];
  /** The worse one. */
  readonly rejected: readonly Message[];
  /** The score of the better one. */
  readonly chosenScore: number;
  /** The score of the worse one. */
  readonly rejectedScore: number;
  /** `chosenScore − rejectedScore`, above 0. */
  readonly margin: number;
  /** Whether there is a right end at or below the better one; `undefined` without scored ends there. */
  readonly chosenRight?: boolean | undefined;
  /** The same for the worse one. */
  readonly rejectedRight?: boolean | undefined;
  /** The weight of the row in a weighted loss, above 0. @see StepORLM, rStar-Math */
  readonly weight: number;
  /** ε, the probability that the label is wrong, in [0, 0.5]. 0 if the rule does not smooth. */
  readonly labelSmoothing: number;
  /** Whether the better one is final: a trainer may end it. */
  readonly chosenEnds: boolean;
  /** Whether the worse one is final. */
  readonly rejectedEnds: boolean;
}

/** A step with its labels. */
export interface LabelledStep {
  /** The step as text. */
  readonly text: string;
  /** The soft label, such as the share of right continuations, on the scale of the rule. */
  readonly value: number;
  /** The hard label. */
  readonly label: boolean;
  /** −1 wrong, 0 neither, 1 right, as in PRM800K. */
  readonly rating: -1 | 0 | 1;
}

/** A solution, each step labelled. */
export interface StepwiseRow extends RowBase {
  /** Identifies the row. */
  readonly kind: 'stepwise';
  /** The steps in order: at least one. */
  readonly steps: readonly LabelledStep[];
  /** For each step all alternatives, itself included, in the order of their proposal. */
  readonly alternatives: readonly (readonly LabelledStep[])[];
  /** The index of each step among its alternatives. */
  readonly taken: readonly number[];
  /** The text between steps. */
  readonly delimiter: string;
  /** Whether the solution, if complete, is right; `undefined` if unknown or incomplete. */
  readonly right: boolean | undefined;
}

/** A prompt and the completion to learn. */
export interface SftRow extends RowBase {
  /** Identifies the row. */
  readonly kind: 'sft';
  /**
   * The completion to learn: one turn, or the rest of a conversation. Text that should not be learnt is part of the
   * prompt.
   */
  readonly completion: readonly Message[];
  /** Whether nothing follows it: a trainer may end it. */
  readonly ends: boolean;
  /** Its score, on the scale of the rule. */
  readonly score: number;
  /** The weight of the row in a weighted loss, above 0. */
  readonly weight: number;
}

/** A completion labelled as desirable or not. */
export interface UnpairedRow extends RowBase {
  /** Identifies the row. */
  readonly kind: 'unpaired';
  /** The completion. */
  readonly completion: readonly Message[];
  /** Whether it is desirable. */
  readonly label: boolean;
  /** Its score. */
  readonly score: number;
  /** Whether nothing follows it. */
  readonly ends: boolean;
}

/** A prompt for reinforcement learning. */
export interface PromptRow extends RowBase {
  /** Identifies the row. */
  readonly kind: 'prompt';
  /** The right answer for the reward function; empty if unknown. */
  readonly answer: string;
  /** V of the root: how hard the problem was for the search. */
  readonly value: number;
  /** The share of right ends among the scored ends; 0 without any. */
  readonly solveRate: number;
}

/** A path of a tree with the reward of its end; part of a group with the same prompt. */
export interface RolloutRow extends RowBase {
  /** Identifies the row. */
  readonly kind: 'rollout';
  /** The complete path as a completion. */
  readonly completion: readonly Message[];
  /** R, the score of the end. */
  readonly reward: number;
  /** The id of the group: the problem. */
  readonly group: string;
  /** `iid`: independent samples of the policy. `search`: drawn by a selection rule, and so biased. */
  readonly sampling: 'iid' | 'search';
  /** A of the complete path, by estimator. All rows of a rule have the same names. */
  readonly advantages: Readonly<Record<string, number>>;
  /** The steps of the path as text. */
  readonly steps: readonly string[];
  /** A of each step, by estimator. All rows of a rule have the same names. */
  readonly stepAdvantages: Readonly<Record<string, readonly number[]>>;
}

/** A row of training data, before formatting for a trainer. */
export type TrainingRow =
  | PreferenceRow
  | PromptRow
  | RolloutRow
  | SftRow
  | StepwiseRow
  | UnpairedRow;

/** The kinds of rows. */
export type RowKind = TrainingRow['kind'];

/** The name and source of a rule, as shown by commands, rows, cards and tables. */
export interface RuleInfo {
  /** The name in commands and rows, in kebab-case. */
  readonly name: string;
  /** What it makes, in one line. @defaultValue none */
  readonly title?: string;
  /** The paper: authors, year, number. @defaultValue none */
  readonly paper?: string;
  /** The options it was made with. @defaultValue none */
  readonly options?: object;
}

/** Makes rows of one kind from finished trees. */
export interface RowRule<Row extends TrainingRow = TrainingRow> extends RuleInfo {
  /** The kind of its rows. */
  readonly kind: Row['kind'];
  /**
   * The rows of one problem: equal trees give equal rows in the same order. No two of them are equal.
   *
   * @param trees - All trees of the problem.
   * @param leaveOut - Told the reason for each row that is left out because another row of the problem contradicts it,
   *   in one sentence: an export counts them.
   */
  rows<State, Action>(
    trees: readonly TreeRecord<State, Action>[],
    leaveOut?: (reason: string) => void,
  ): Iterable<Row>;
}
