import { asRead } from '../../base/as-read.ts';
import { expectObject } from '../../base/expect.ts';
import { expectMessages } from '../../base/expect-messages.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { isFailure } from '../../base/failure.ts';
import type {
  Decision,
  DecisionModel,
  DecisionRequest,
  Decisions,
} from '../../contracts/decision-model.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ModelOperation } from './model-operation.ts';
import { ofModel } from './of-model.ts';
import { mostTokensIn } from './tokens.ts';

/** Asks typed questions. */
export function decide(model: DecisionModel): ModelOperation<DecisionRequest, Decisions> {
  const common = ofModel('decide', model);
  return {
    ...common,
    check(request) {
      expectObject('request', request);
      expectOptions('context.decide', request, 'messages questions');
      expectMessages(request.messages);
      expectObject('questions', request.questions);
      for (const [name, question] of Object.entries(request.questions)) {
        expectOptions(`questions.${name}`, question, 'type text yes no levels choices');
      }
    },
    address: (request) =>
      ({ ...request, messages: asRead(request.messages) }) as unknown as JsonValue,
    worstCase,
    run: (request, call) => model.decide(request, call),
    accept: ({ questions }, reply) => accept(common.name, reply, Object.keys(questions)),
    isAnswer: ({ answers }) => !Object.values(answers).some(isFailure),
    telemetry: { operation: 'decide' },
    extent: ({ questions }, { answers }) => ({
      requests: Object.keys(questions).length + 1,
      answers: Object.keys(answers).length,
    }),
  };
}

/** A server may send each question to its model separately. */
function worstCase({ messages, questions }: DecisionRequest) {
  const request = messages.map(({ content }) => content);
  const asked = Object.values(questions).map((question) => JSON.stringify(question));
  return { inputTokens: mostTokensIn(asked.flatMap((question) => [...request, question])) };
}

/** Decisions that answer every question. */
function accept(name: string, reply: Decisions, questions: readonly string[]): Decisions {
  expectObject(`reply of ${name}`, reply);
  const { answers } = reply;
  expectObject(`answers of ${name}`, answers);
  for (const question of questions) {
    if (!Object.hasOwn(answers, question)) {
      throw new Error(`${name} gave no decision on \`${question}\`.`);
    }
    const decision = answers[question] as Decision;
    expectObject(`answers.${question} of ${name}`, decision);
    if (isFailure(decision) || decision.type !== 'choice') continue;
    expectObject(`answers.${question}.probabilities of ${name}`, decision.probabilities);
  }
  return { ...reply };
}
