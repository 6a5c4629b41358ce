import type { JsonValue } from '../contracts/json.ts';
import type { Message, ToolDefinition } from '../contracts/language-model.ts';
import type { NodeId } from '../contracts/node.ts';
import type { TreeRecord } from './record.ts';

/** Where a row comes from. Arrays are in the order of `nodes`. */
export interface RowProvenance {
  /** The problem. */
  readonly problem: string;
  /** The tree. */
  readonly tree: string;
  /** The nodes: of a pair the parent, the chosen and the rejected one; of a path from the root to its end. */
  readonly nodes: readonly NodeId[];
  /** Edges from the root to where the completion starts. */
  readonly depth: number;
  /** N of each node. */
  readonly visits: readonly number[];
  /** Q of each node; the evaluation of one that was never visited, else 0. */
  readonly values: readonly number[];
  /** What each value was blended from. */
  readonly parts: readonly Readonly<Record<string, number>>[];
  /** The models that took part, as `provider:modelId`, the policy's first. */
  readonly models: readonly string[];
  /** The method that grew the tree; empty where it is not known. */
  readonly method: string;
  /** The rule that made the row. */
  readonly rule: string;
  /** The seed of the search. */
  readonly seed: string;
  /**
   * Who said which paths are good. `oracle-guided`: somebody who knows the answer had a part in the search.
   * `rewarded`: the environment rewarded ends. `self-evaluated`: models judged.
   */
  readonly guidance: 'oracle-guided' | 'rewarded' | 'self-evaluated';
  /** Marks of the tree, sorted. */
  readonly stamps: readonly string[];
}

interface RowBase {
  /**
   * What the model is shown. A trailing `assistant` turn is the beginning of the completion. The same for both
   * sides of a pair; never empty.
   */
  readonly prompt: readonly Message[];
  /** The tools that the model was offered. @defaultValue none */
  readonly tools?: readonly ToolDefinition[];
  /** Where the row comes from. */
  readonly provenance: RowProvenance;
  /** What the dataset that a row was read from says besides, so that it is not lost. @defaultValue nothing */
  readonly extra?: Readonly<Record<string, JsonValue>>;
}

/** Two completions of one prompt, of which one is better. */
export interface PreferenceRow extends RowBase {
  /** Tells rows apart. */
  readonly kind: 'preference';
  /** The better one: one turn, or the rest of a conversation. */
  readonly chosen: readonly Message[];
  /** The worse one. */
  readonly rejected: readonly Message[];
  /** What the better one scores. */
  readonly chosenScore: number;
  /** What the worse one scores: less. */
  readonly rejectedScore: number;
  /** `chosenScore − rejectedScore`, above 0. */
  readonly margin: number;
  /** Whether a right end stands at or below the better one; `undefined` where no end there was scored. */
  readonly chosenRight?: boolean | undefined;
  /** The same of the worse one. */
  readonly rejectedRight?: boolean | undefined;
  /** The weight of the row in a weighted loss, above 0. @see StepORLM, rStar-Math */
  readonly weight: number;
  /** ε, the probability that the label is wrong, in [0, 0.5]. 0 where the rule does not smooth. */
  readonly labelSmoothing: number;
  /** Whether nothing follows the better one: a trainer may end it. */
  readonly chosenEnds: boolean;
  /** Whether nothing follows the worse one. */
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
  /** Tells rows apart. */
  readonly kind: 'stepwise';
  /** The steps in order: at least one. */
  readonly steps: readonly LabelledStep[];
  /** Of each step all that were proposed in its place, itself included, as proposed. */
  readonly alternatives: readonly (readonly LabelledStep[])[];
  /** Which of the alternatives each step is: an index into those of the same place. */
  readonly taken: readonly number[];
  /** What the steps are parted by. */
  readonly delimiter: string;
  /** Whether the last step ends the solution, and whether it is right; `undefined`: not known, or no end. */
  readonly right: boolean | undefined;
}

/** A prompt and what a model should say to it. */
export interface SftRow extends RowBase {
  /** Tells rows apart. */
  readonly kind: 'sft';
  /** What is learnt: one turn, or the rest of a conversation. What is not to be learnt stands in the prompt. */
  readonly completion: readonly Message[];
  /** Whether nothing follows it: a trainer may end it. */
  readonly ends: boolean;
  /** How good it is, on the scale of the rule. */
  readonly score: number;
  /** The weight of the row in a weighted loss, above 0. */
  readonly weight: number;
}

/** A completion that is wanted or not. */
export interface UnpairedRow extends RowBase {
  /** Tells rows apart. */
  readonly kind: 'unpaired';
  /** The completion. */
  readonly completion: readonly Message[];
  /** Whether it is wanted. */
  readonly label: boolean;
  /** What it scores. */
  readonly score: number;
  /** Whether nothing follows it. */
  readonly ends: boolean;
}

/** A prompt to train on by reinforcement. */
export interface PromptRow extends RowBase {
  /** Tells rows apart. */
  readonly kind: 'prompt';
  /** The right answer for the reward function; empty where it is not known. */
  readonly answer: string;
  /** V of the root: how hard the problem was for the search. */
  readonly value: number;
  /** The share of right ends among those that were scored; 0 where none was. */
  readonly solveRate: number;
}

/** A path of a tree with the reward of its end, one of a group that shares the prompt. */
export interface RolloutRow extends RowBase {
  /** Tells rows apart. */
  readonly kind: 'rollout';
  /** The whole path as a completion. */
  readonly completion: readonly Message[];
  /** R, the score of the end. */
  readonly reward: number;
  /** Names the group: the problem. */
  readonly group: string;
  /** `iid`: independent samples of the policy. `search`: a selection rule drew them, so that they are biased. */
  readonly sampling: 'iid' | 'search';
  /** A of the whole path, by the name of the estimator. The same names in each row of a rule. */
  readonly advantages: Readonly<Record<string, number>>;
  /** The steps of the path as text. */
  readonly steps: readonly string[];
  /** A of each step, by the name of the estimator. The same names in each row of a rule. */
  readonly stepAdvantages: Readonly<Record<string, readonly number[]>>;
}

/** A row of training data, before it takes the form of a trainer. */
export type TrainingRow =
  | PreferenceRow
  | PromptRow
  | RolloutRow
  | SftRow
  | StepwiseRow
  | UnpairedRow;

/** What kinds of rows there are. */
export type RowKind = TrainingRow['kind'];

/** What a rule is called and where it comes from: commands, rows, cards and tables say so. */
export interface RuleInfo {
  /** The name in commands and rows, in kebab-case. */
  readonly name: string;
  /** What it makes, in one line. @defaultValue nothing is said */
  readonly title?: string;
  /** The paper: authors, year, number. @defaultValue none */
  readonly paper?: string;
  /** The options that it was made with, as they were given. @defaultValue none */
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
   */
  rows<State, Action>(trees: readonly TreeRecord<State, Action>[]): Iterable<Row>;
}
