import { expectOptions } from '../../base/expect-options.ts';
import type { DecisionModel, Question } from '../../contracts/decision-model.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { JsonBody } from '../transport/chat-request.ts';
import { Endpoint, type EndpointOptions, endpointOptions } from '../transport/endpoint.ts';
import { itemsOf } from '../transport/json.ts';
import { at } from './read.ts';
import { questionServer } from './server.ts';

/**
 * A decision model behind a server that speaks OpenAI's Decisions, `POST /v1/decisions`: OpenAI, and SGLang for
 * any model with a chat template. All questions are sent in one request. A conversation with more than one user message
 * is sent as JSON text.
 *
 * A missing or invalid answer, or a refusal, fails only its question.
 *
 * @throws EspalierError `usage` if an option is out of range.
 * @defaultValue baseUrl: `https://api.openai.com/v1`
 */
export function decisions(options: EndpointOptions): DecisionModel {
  expectOptions('decisions', options, endpointOptions);
  const usual = { provider: 'decisions', baseUrl: 'https://api.openai.com/v1' };
  const endpoint = new Endpoint(usual, options);
  return questionServer(endpoint, {
    path: '/v1/decisions',
    types: { 'yes-no': 'predicate', scale: 'score', choice: 'choice' },
    yes: 'probability',
    body: ({ messages, questions }, { run }) => ({
      input: inputOf(messages),
      questions: Object.entries(questions).map(([name, question]) => questionBody(name, question)),
      ...(run !== undefined && endpoint.provider === 'openai' && { prompt_cache_key: run }),
    }),
    /** `undefined` if there is no answer, or several. */
    answerTo(name, answers) {
      const found = itemsOf(answers).filter((answer) => at(answer, 'name') === name);
      return found.length === 1 ? found[0] : undefined;
    },
    probabilityOf: (value, told) =>
      at(
        itemsOf(told).find((item) => at(item, 'value') === value),
        'probability',
      ),
    isAnswers: Array.isArray,
  });
}

function inputOf(messages: readonly Message[]): string {
  const [only] = messages;
  if (messages.length === 1 && only?.role === 'user') return only.content;
  return JSON.stringify(messages.map(({ role, content }) => ({ role, content })));
}

function questionBody(name: string, question: Question): JsonBody {
  switch (question.type) {
    case 'yes-no': {
      // A predicate has no field for the meanings of its answers.
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
