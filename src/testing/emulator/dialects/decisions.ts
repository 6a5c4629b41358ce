import type { JsonValue } from '../../../contracts/json.ts';
import type { Call, Reply } from '../dialect.ts';
import { type JsonObject, listOf, objectOf, textAt } from '../fields.ts';
import { Rejection } from '../rejection.ts';
import { jsonReply } from '../reply.ts';
import { readForScore } from '../serve-model.ts';

/**
 * `POST /v1/systemone`: probabilities for typed questions. The probability of an answer is its share of the rewards of
 * all answers; that of yes is the reward of the label `true`.
 */
export function systemOne(call: Call): Reply {
  const { body, service } = call;
  if (!service.settings.decides) {
    throw new Rejection({
      status: 501,
      message: 'This model does not support decisions.',
      type: 'not_supported_error',
    });
  }
  const state = stateOf(body['state']);
  const questions = Object.entries(objectOf(body['questions']));
  const answers = questions.map(([name, question]) => [
    name,
    systemOneAnswer(call, state, objectOf(question)),
  ]);
  const input = readForScore(call, [state, JSON.stringify(body['questions'] ?? {})]);
  return jsonReply({
    model: body['model'] ?? service.settings.models[0] ?? '',
    answers: Object.fromEntries(answers) as JsonObject,
    usage: { input_tokens: input, output_tokens: 0 },
  });
}

function systemOneAnswer(call: Call, state: string, question: JsonObject): JsonObject {
  const asking = askingOf(call, state, question);
  switch (textAt(question, 'type') ?? '') {
    case 'noul':
      return { type: 'noul', noul: rewardOf(asking, 'true') };
    case 'score': {
      const levels = listOf(question['criteria']).map(String);
      const shares = sharesOf(asking, levels);
      return {
        type: 'score',
        score: expected(shares),
        legend: byPlace(levels),
        probabilities: byPlace(shares),
        confidence: Math.max(...shares),
      };
    }
    case 'choice': {
      const names = Object.keys(objectOf(question['criteria']));
      const shares = sharesOf(asking, names);
      const probabilities = Object.fromEntries(names.map((name, at) => [name, shares[at] ?? 0]));
      const best = Math.max(...shares);
      const choice = names[shares.indexOf(best)] ?? '';
      return { type: 'choice', choice, probabilities, confidence: best };
    }
    default:
      throw new Rejection({ status: 400, message: "Invalid 'type' of a question." });
  }
}

/**
 * `POST /v1/decisions`: like {@link systemOne}, in OpenAI's format. The model declines a question whose rewards are
 * below 0.
 */
export function decisions(call: Call): Reply {
  const { body, service } = call;
  const state = stateOf(body['input']);
  const answers = listOf(body['questions']).map((question) =>
    decisionAnswer(call, state, objectOf(question)),
  );
  const input = readForScore(call, [state, JSON.stringify(body['questions'] ?? [])]);
  return jsonReply({
    model: body['model'] ?? service.settings.models[0] ?? '',
    answers,
    usage: { input_tokens: input, output_tokens: 0, total_tokens: input },
  });
}

function decisionAnswer(call: Call, state: string, question: JsonObject): JsonObject {
  const asking = askingOf(call, state, question);
  const name = question['name'] ?? null;
  switch (textAt(question, 'type') ?? '') {
    case 'predicate': {
      const probability = rewardOf(asking, 'true');
      return probability < 0 ? { type: 'refusal', name } : { type: 'predicate', name, probability };
    }
    case 'score': {
      const labels = listOf(question['levels']).map(
        (level) => textAt(objectOf(level), 'label') ?? '',
      );
      const shares = sharesOf(asking, labels);
      const probabilities = labels.map((label, value) => ({
        ...{ value, label, probability: shares[value] ?? 0 },
      }));
      const confidence = Math.max(...shares);
      return { type: 'score', name, score: expected(shares), probabilities, confidence };
    }
    case 'choice': {
      const values = listOf(question['choices']).map(
        (item) => textAt(objectOf(item), 'value') ?? '',
      );
      const shares = sharesOf(asking, values);
      const confidence = Math.max(...shares);
      const choice = values[shares.indexOf(confidence)] ?? '';
      const probabilities = values.map((value, at) => ({ value, probability: shares[at] ?? 0 }));
      return { type: 'choice', name, choice, probabilities, confidence };
    }
    default:
      throw new Rejection({ status: 400, message: "Invalid 'type' of a question." });
  }
}

interface Asking {
  readonly call: Call;
  readonly query: string;
  readonly text: string;
}

function askingOf(call: Call, query: string, question: JsonObject): Asking {
  return { call, query, text: textAt(question, 'instructions') ?? '' };
}

function rewardOf({ call, query, text }: Asking, label: string): number {
  return call.service.settings.reward({ text, query, label });
}

function sharesOf(asking: Asking, labels: readonly string[]): readonly number[] {
  const rewards = labels.map((label) => rewardOf(asking, label));
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  return rewards.map((reward) => reward / sum);
}

function expected(shares: readonly number[]): number {
  return shares.reduce((sum, share, place) => sum + place * share, 0);
}

function byPlace(items: readonly JsonValue[]): JsonObject {
  return Object.fromEntries(items.map((item, place) => [String(place), item]));
}

function stateOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
