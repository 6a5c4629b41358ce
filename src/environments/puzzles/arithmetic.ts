/** One step of an arithmetic puzzle: two numbers are replaced by the result of an operation on them. */
export interface ArithmeticStep<Value> {
  /** The first operand. */
  readonly left: Value;
  /** The operation. */
  readonly operator: '+' | '-' | '*' | '/';
  /** The second operand. */
  readonly right: Value;
  /** The result of the operation. */
  readonly result: Value;
  /** The numbers after the step in ascending order, the result included. */
  readonly remaining: readonly Value[];
}

/** A state of an arithmetic puzzle. */
export interface ArithmeticState<Value> {
  /** The numbers that remain, in ascending order. */
  readonly numbers: readonly {
    /** The number. */
    readonly value: Value;
    /** How it was made from the numbers of the start, for example `(4 * 6)`. */
    readonly expression: string;
  }[];
  /** The number to make. */
  readonly target: number;
}

export type Operand<Value> = ArithmeticState<Value>['numbers'][number];
export type Operator = ArithmeticStep<never>['operator'];

/** The rules in which arithmetic puzzles differ. */
export interface ArithmeticRules<Value> {
  /** The name of the environment. */
  readonly name: string;
  /** The name for people. */
  readonly title: string;
  /** The target of instances that have none. */
  readonly usualTarget?: number;
  /** Which results are allowed, to complete the sentence *Expected …*. */
  readonly allowed: string;
  /** The result of an operation, or `undefined` if it is not allowed. */
  compute(operator: Operator, left: Value, right: Value): Value | undefined;
  /** An integer as a number of this puzzle. */
  of(integer: number): Value;
  /** Negative, 0 or positive, if `left` is smaller than, equal to or larger than `right`. */
  compare(left: Value, right: Value): number;
  /** A number as text. */
  write(value: Value): string;
  /** Reads what `write` wrote, and other usual spellings. */
  read(text: string): Value | undefined;
  /** Whether the target has been made. */
  solved(state: ArithmeticState<Value>): boolean;
  /** The property of a solved state, to complete the sentence *Expected …*. */
  wanted(target: number): string;
  /** The description of the puzzle for a model, without its numbers and its target. */
  readonly task: string;
}
