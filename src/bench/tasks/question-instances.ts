import { contentAddress } from '../../base/canonical-json.ts';
import {
  answerOracle,
  notationFor,
  type ReasoningState,
  reasoning,
} from '../../environments/index.ts';
import type { BenchInstance } from '../task.ts';

/** A question with its known answer. */
export interface KnownQuestion {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
  /** Questions of one cluster are not independent. */
  readonly cluster?: string | undefined;
}

/** The longest answer that is compared: none that a model states is read where it is longer. */
export const longestAnswer = 200;

/** No step of reasoning is longer, in tokens. */
const longestStep = 512;

/** A question as an instance: its answer is for scoring only. */
export function questionInstance(asked: KnownQuestion): BenchInstance<ReasoningState, string> {
  const { id, question, answer, cluster } = asked;
  const environment = reasoning({ question });
  return {
    id,
    revision: contentAddress(JSON.stringify([question, answer])).slice(0, 12),
    ...(cluster !== undefined && { cluster }),
    environment,
    notationFor: (capabilities) => notationFor(environment, capabilities),
    oracle: answerOracle(answer),
    maxTokens: longestStep,
  };
}
