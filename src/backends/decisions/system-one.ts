import { expectOptions } from '../../base/expect-options.ts';
import type { DecisionModel, Question } from '../../contracts/decision-model.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { JsonBody } from '../transport/chat-request.ts';
import { Endpoint, type EndpointOptions, endpointOptions } from '../transport/endpoint.ts';
import { at } from './read.ts';
import { mapped, questionServer } from './server.ts';

/**
 * A decision model behind a server that speaks System One, `POST /v1/systemone`: TypeSafe, llama-server, Ollama,
 * SGLang, `transformers serve`, and others. All questions are sent in one request.
 *
 * A missing or invalid answer fails only its question.
 *
 * @throws EspalierError `usage` if an option is out of range. A model without decisions (501) is a
 * `ModelCallError` of the kind `capability`.
 * @defaultValue model: `jev-latest`, baseUrl: `https://api.typesafe.ai`
 */
export function systemOne(options: Partial<EndpointOptions> = {}): DecisionModel {
  expectOptions('systemOne', options, endpointOptions);
  const usual = { provider: 'systemone', baseUrl: 'https://api.typesafe.ai' };
  const endpoint = new Endpoint(usual, { ...options, model: options.model ?? 'jev-latest' });
  return questionServer(endpoint, {
    path: '/v1/systemone',
    types: { 'yes-no': 'noul', scale: 'score', choice: 'choice' },
    mayOmitType: true,
    yes: 'noul',
    body: ({ messages, questions }) => ({
      state: stateOf(messages),
      questions: mapped(questions, questionBody),
    }),
    answerTo: (name, answers) => at(answers, name),
    probabilityOf: (value, told) => at(told, String(value)),
    isAnswers: (told) => typeof told === 'object' && told !== null,
  });
}

/** A single message as text, a longer conversation unchanged. */
function stateOf(messages: readonly Message[]): JsonValue {
  const [only] = messages;
  if (messages.length === 1 && only?.role === 'user') return only.content;
  return messages.map(({ role, content }) => ({ role, content }));
}

function questionBody(question: Question): JsonBody {
  const instructions = question.text;
  switch (question.type) {
    case 'yes-no': {
      const { yes, no } = question;
      const criteria = {
        ...(yes !== undefined && { true: yes }),
        ...(no !== undefined && { false: no }),
      };
      const isPlain = yes === undefined && no === undefined;
      return { type: 'noul', instructions, ...(!isPlain && { criteria }) };
    }
    case 'scale':
      return { type: 'score', instructions, criteria: question.levels };
    case 'choice':
      return { type: 'choice', instructions, criteria: question.choices };
  }
}
