import type { Failure } from './failure.ts';
import type { Message, ModelCall, Payee, Usage } from './language-model.ts';

/**
 * A model that answers typed questions with probabilities instead of text. Call it through
 * `CallContext.decide`.
 */
export interface DecisionModel extends Payee {
  /** Returns one decision per question, or rejects. */
  decide(request: DecisionRequest, call: ModelCall): Promise<Decisions>;
}

/** What is to be decided. */
export interface DecisionRequest {
  /** What the questions are about, as a conversation. */
  readonly messages: readonly Message[];
  /** The questions by name; one or more. */
  readonly questions: Readonly<Record<string, Question>>;
}

/** A question with a fixed set of answers. */
export type Question =
  | {
      /** Whether something holds. */
      readonly type: 'yes-no';
      /** The question. */
      readonly text: string;
      /** What *yes* means, if the question leaves it open. */
      readonly yes?: string;
      /** What *no* means, if the question leaves it open. */
      readonly no?: string;
    }
  | {
      /** A rating on an ordered scale. */
      readonly type: 'scale';
      /** The question. */
      readonly text: string;
      /** What each level means, the worst first: 2 to 10. */
      readonly levels: readonly string[];
    }
  | {
      /** A choice among named options. */
      readonly type: 'choice';
      /** The question. */
      readonly text: string;
      /** The choices by name, with a description if the name is not clear enough: 2 or more. */
      readonly choices: Readonly<Record<string, string | null>>;
    };

/** The answers of a decision model. */
export interface Decisions {
  /** One decision per question, by name. */
  readonly answers: Readonly<Record<string, Decision>>;
  /** The tokens that were read. */
  readonly usage?: Usage;
}

/** The answer to a {@link Question}, of its type; or the reason why there is none, such as a refusal. */
export type Decision =
  | Failure
  | {
      /** The answer to a yes-no question. */
      readonly type: 'yes-no';
      /** The probability of *yes*, in [0, 1]. */
      readonly probability: number;
    }
  | {
      /** The answer to a scale question. */
      readonly type: 'scale';
      /** The expected level, from 0 to the number of levels minus 1. */
      readonly level: number;
      /** The probability of each level, if the model reports it. */
      readonly probabilities?: readonly number[];
    }
  | {
      /** The answer to a choice. */
      readonly type: 'choice';
      /** The likeliest choice. */
      readonly choice: string;
      /** The probability of each choice. They sum to 1. */
      readonly probabilities: Readonly<Record<string, number>>;
    };
