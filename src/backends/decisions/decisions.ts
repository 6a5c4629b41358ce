import type { Decision, DecisionModel, Question } from '../../contracts/decision-model.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { JsonBody } from '../transport/chat-request.ts';
import {
  Endpoint,
  type EndpointOptions,
  retried,
  usageOf,
  usageOfAll,
} from '../transport/endpoint.ts';
import { fieldsOf, itemsOf } from '../transport/json.ts';
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

/** Options of {@link decisions}. */
export interface DecisionsOptions extends EndpointOptions {
  /** Who serves it, as in `provider:modelId`. @defaultValue `'decisions'` */
  readonly provider?: string;
}

/**
 * A decision model behind a server that speaks OpenAI's Decisions, `POST /v1/decisions`: OpenAI, and SGLang for
 * any model with a chat template. All questions go out in one request. A conversation of more than one question
 * of the user is sent as JSON text.
 *
 * An answer that is missing or makes no sense is the failure of its question, and so is a refusal.
 *
 * @throws EspalierError `usage` where an option is out of its range.
 * @defaultValue baseUrl: `https://api.openai.com/v1`
 */
export function decisions(options: DecisionsOptions): DecisionModel {
  const { provider = 'decisions' } = options;
  const endpoint = new Endpoint({ provider, baseUrl: 'https://api.openai.com/v1' }, options);
  const model: DecisionModel = {
    ...endpoint.names,
    async decide(request, call) {
      expectQuestions(request);
      const entries = Object.entries(request.questions);
      const body = {
        model: endpoint.modelId,
        input: inputOf(request.messages),
        questions: entries.map(([name, question]) => questionBody(name, question)),
        ...(call.run !== undefined && provider === 'openai' && { prompt_cache_key: call.run }),
      };
      try {
        const reply = await endpoint.post('/v1/decisions', body, call);
        const told = fieldsOf(reply)['answers'];
        if (!Array.isArray(told)) {
          throw endpoint.malformed('JSON of another shape: it has no `answers`', call);
        }
        const answers = entries.map(([name, question]) => [
          name,
          read(question, answerTo(name, itemsOf(told)), name),
        ]);
        return {
          answers: Object.fromEntries(answers) as Record<string, Decision>,
          ...usageOfAll([usageOf(reply)]),
        };
      } catch (error) {
        throw plainError(error, endpoint);
      }
    },
  };
  return retried(model, options);
}

function inputOf(messages: readonly Message[]): string {
  const [only] = messages;
  if (messages.length === 1 && only?.role === 'user') return only.content;
  return JSON.stringify(messages.map(({ role, content }) => ({ role, content })));
}

function questionBody(name: string, question: Question): JsonBody {
  switch (question.type) {
    case 'yes-no': {
      // A predicate has no place for what its answers mean.
      const { text, yes, no } = question;
      const meanings = [
        ...(yes === undefined ? [] : [`Yes: ${yes}`]),
        ...(no === undefined ? [] : [`No: ${no}`]),
      ];
      return { type: 'predicate', name, instructions: [text, ...meanings].join('\n') };
    }
    case 'scale': {
      const levels = question.levels.map((label) => ({ label }));
      return { type: 'score', name, instructions: question.text, levels };
    }
    case 'choice': {
      const choices = Object.entries(question.choices).map(([value, description]) => ({
        value,
        ...(description !== null && { description }),
      }));
      return { type: 'choice', name, instructions: question.text, choices };
    }
  }
}

/** The answer with a name; `undefined` where there is none, or there are several. */
function answerTo(name: string, answers: readonly unknown[]): unknown {
  const found = answers.filter((answer) => at(answer, 'name') === name);
  return found.length === 1 ? found[0] : undefined;
}

function read(question: Question, answer: unknown, name: string): Decision {
  if (answer === undefined) return unanswered(name);
  const type = at(answer, 'type');
  if (type === 'refusal') return refused(name);
  const wanted = { 'yes-no': 'predicate', scale: 'score', choice: 'choice' }[question.type];
  if (type !== wanted) {
    return unread(`Expected an answer of the type \`${wanted}\` to \`${name}\`, got another one.`);
  }
  const told = itemsOf(at(answer, 'probabilities'));
  const probabilityOf = (value: number | string) =>
    at(
      told.find((item) => at(item, 'value') === value),
      'probability',
    );
  switch (question.type) {
    case 'yes-no':
      return readYesNo(at(answer, 'probability'));
    case 'scale':
      return readScale(
        question,
        at(answer, 'score'),
        question.levels.map((_, place) => probabilityOf(place)),
      );
    case 'choice':
      return readChoice(question, Object.keys(question.choices).map(probabilityOf));
  }
}
