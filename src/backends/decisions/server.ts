import type {
  Decision,
  DecisionModel,
  DecisionRequest,
  Question,
} from '../../contracts/decision-model.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import type { JsonBody } from '../transport/chat-request.ts';
import { type Endpoint, usageOf, usageOfAll } from '../transport/endpoint.ts';
import { fieldsOf } from '../transport/json.ts';
import {
  at,
  expectQuestions,
  plainError,
  readChoice,
  readScale,
  readYesNo,
  refused,
  unanswered,
  unread,
} from './read.ts';

/** How a server expects typed questions, and how it answers. */
export interface Dialect {
  readonly path: string;
  /** Its names for the types of questions. */
  readonly types: Readonly<Record<Question['type'], string>>;
  /** Whether an answer may omit its type. */
  readonly mayOmitType?: boolean;
  /** The field with the probability of yes. */
  readonly yes: string;
  /** The body, without the name of the model. */
  readonly body: (request: DecisionRequest, call: ModelCall) => JsonBody;
  /** Whether a value can be the answers. */
  readonly isAnswers: (told: unknown) => boolean;
  /** Finds the answer to a question. */
  readonly answerTo: (name: string, answers: unknown) => unknown;
  /** Finds the probability of a level or a choice. */
  readonly probabilityOf: (value: number | string, told: unknown) => unknown;
}

/** A model on a server that answers all questions of a request together. */
export function questionServer(endpoint: Endpoint, dialect: Dialect): DecisionModel {
  return endpoint.kept<DecisionModel>({
    ...endpoint.names,
    async decide(request, call) {
      expectQuestions(request);
      const body = { model: endpoint.modelId, ...dialect.body(request, call) };
      try {
        const reply = await endpoint.post(dialect.path, body, call);
        const told = fieldsOf(reply)['answers'];
        if (!dialect.isAnswers(told)) {
          throw endpoint.malformed('JSON with another structure: it has no `answers`', call);
        }
        const answers = mapped(request.questions, (question, name) =>
          read(question, dialect.answerTo(name, told), { name, dialect }),
        );
        return { answers, ...usageOfAll([usageOf(reply)]) };
      } catch (error) {
        throw plainError(error, endpoint);
      }
    },
  });
}

/** Maps the values of an object. Keys are data: `__proto__` is a key like any other. */
export function mapped<Value, Result>(
  values: Readonly<Record<string, Value>>,
  change: (value: Value, key: string) => Result,
): Readonly<Record<string, Result>> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, change(value, key)]),
  );
}

function read(
  question: Question,
  answer: unknown,
  { name, dialect }: { readonly name: string; readonly dialect: Dialect },
): Decision {
  const { types, mayOmitType = false, yes, probabilityOf } = dialect;
  if (answer === undefined || answer === null) return unanswered(name);
  const type = at(answer, 'type');
  if (type === 'refusal') return refused(name);
  const wanted = types[question.type];
  if (type !== wanted && !(mayOmitType && type === undefined)) {
    return unread(`Expected an answer of the type \`${wanted}\` to \`${name}\`, got another one.`);
  }
  const told = at(answer, 'probabilities');
  switch (question.type) {
    case 'yes-no':
      return readYesNo(at(answer, yes));
    case 'scale': {
      const levels = question.levels.map((_, place) => probabilityOf(place, told));
      return readScale(question, at(answer, 'score'), levels);
    }
    case 'choice': {
      const choices = Object.keys(question.choices).map((choice) => probabilityOf(choice, told));
      return readChoice(question, choices);
    }
  }
}
