import type { Decision, DecisionModel, Question } from '../../contracts/decision-model.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { JsonBody } from '../transport/chat-request.ts';
import {
  Endpoint,
  type EndpointOptions,
  retried,
  usageOf,
  usageOfAll,
} from '../transport/endpoint.ts';
import { fieldsOf } from '../transport/json.ts';
import {
  at,
  expectQuestions,
  plainError,
  readChoice,
  readScale,
  readYesNo,
  unanswered,
  unread,
} from './read.ts';

/** Options of {@link systemOne}. */
export interface SystemOneOptions extends Omit<EndpointOptions, 'model'> {
  /** The model's name there. @defaultValue `'jev-latest'` */
  readonly model?: string;
  /** Who serves it, as in `provider:modelId`. @defaultValue `'systemone'` */
  readonly provider?: string;
}

/**
 * A decision model behind a server that speaks System One, `POST /v1/systemone`: TypeSafe, llama-server, Ollama,
 * SGLang, `transformers serve`, and others. All questions go out in one request.
 *
 * An answer that is missing or makes no sense is the failure of its question.
 *
 * @throws EspalierError `usage` where an option is out of its range. A model that makes no decisions (501) is a
 * `ModelCallError` of the kind `capability`.
 * @defaultValue baseUrl: `https://api.typesafe.ai`
 */
export function systemOne(options: SystemOneOptions = {}): DecisionModel {
  const { model: name = 'jev-latest', provider = 'systemone' } = options;
  const usual = { provider, baseUrl: 'https://api.typesafe.ai' };
  const endpoint = new Endpoint(usual, { ...options, model: name });
  const model: DecisionModel = {
    ...endpoint.names,
    async decide(request, call) {
      expectQuestions(request);
      const { messages, questions } = request;
      const body = {
        model: name,
        state: stateOf(messages),
        questions: mapped(questions, questionBody),
      };
      try {
        const reply = await endpoint.post('/v1/systemone', body, call);
        const told = fieldsOf(reply)['answers'];
        if (typeof told !== 'object' || told === null) {
          throw endpoint.malformed('JSON of another shape: it has no `answers`', call);
        }
        const answers = mapped(questions, (question, key) => read(question, at(told, key), key));
        return { answers, ...usageOfAll([usageOf(reply)]) };
      } catch (error) {
        throw plainError(error, endpoint);
      }
    },
  };
  return retried(model, options);
}

/** A single question as text, a conversation as it is. */
function stateOf(messages: readonly Message[]): JsonValue {
  const [only] = messages;
  if (messages.length === 1 && only?.role === 'user') return only.content;
  return messages.map(({ role, content }) => ({ role, content }));
}

/** The values of an object, one by one. Keys are data: `__proto__` is one like any other. */
export function mapped<Value, Result>(
  values: Readonly<Record<string, Value>>,
  change: (value: Value, key: string) => Result,
): Readonly<Record<string, Result>> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, change(value, key)]),
  );
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

function read(question: Question, answer: unknown, name: string): Decision {
  if (answer === undefined || answer === null) return unanswered(name);
  const wanted = { 'yes-no': 'noul', scale: 'score', choice: 'choice' }[question.type];
  const type = at(answer, 'type');
  if (type !== undefined && type !== wanted) {
    return unread(`Expected an answer of the type \`${wanted}\` to \`${name}\`, got another one.`);
  }
  const probabilities = at(answer, 'probabilities');
  switch (question.type) {
    case 'yes-no':
      return readYesNo(at(answer, 'noul'));
    case 'scale': {
      const told = question.levels.map((_, place) => at(probabilities, String(place)));
      return readScale(question, at(answer, 'score'), told);
    }
    case 'choice': {
      const told = Object.keys(question.choices).map((choice) => at(probabilities, choice));
      return readChoice(question, told);
    }
  }
}
