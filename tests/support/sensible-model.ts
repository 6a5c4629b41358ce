import { seededRandom } from '../../src/base/random.ts';
import type { Completion, GenerateRequest, TokenLogprob, Usage } from '../../src/index.ts';
import { type ScriptedModel, scriptedModel } from '../../src/testing/index.ts';

const words = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const probabilities = [0.5, 0.3, 0.1];

/** A scripted model that writes random words and honours everything that a small model can. */
export function sensibleModel(): ScriptedModel {
  return scriptedModel({
    answer: completionFor,
    usage: usageOf,
    latencyMs: 5,
    capabilities: {
      n: true,
      logprobs: true,
      seed: true,
      stop: true,
      continuation: true,
      temperature: true,
      topK: true,
    },
  });
}

function completionFor(request: GenerateRequest, index: number): Completion {
  const { maxTokens = 1024, stop = [], logprobs = false, topLogprobs = 0 } = request;
  const drawn = draw(request, index);
  const tokens = drawn.slice(0, maxTokens);
  const text = tokens.map(({ token }) => token).join('');
  const ends = stop.map((end) => text.indexOf(end)).filter((place) => place >= 0);
  const isCut = ends.length > 0;
  return {
    text: isCut ? text.slice(0, Math.min(...ends)) : text,
    finishReason: isCut || drawn.length <= maxTokens ? 'stop' : 'length',
    ...((logprobs || topLogprobs > 0) && {
      logprobs: tokens.map((token) => told(token, topLogprobs)),
    }),
  };
}

function told({ token, logprob, top = [] }: TokenLogprob, count: number): TokenLogprob {
  return { token, logprob, ...(count > 0 && { top: top.slice(0, count) }) };
}

/** Its next word depends on the conversation, the seed, the index and the place. */
function draw(request: GenerateRequest, index: number): readonly TokenLogprob[] {
  const { messages, seed = 0, temperature = 1, topK } = request;
  const isGreedy = temperature === 0 || topK === 1;
  const prompt = seededRandom(0).split(JSON.stringify(messages));
  const sample = prompt.split(seed, index);
  const length = 18 + prompt.split('length').integer(20);
  return Array.from({ length }, (_, place) => {
    const first = prompt.split('word', place).integer(words.length);
    const top = probabilities.map((probability, rank) => ({
      token: ` ${words[(first + rank) % words.length]}`,
      logprob: Math.log(probability),
    }));
    const rank = isGreedy ? 0 : sample.split(place).integer(3);
    return { ...(top[rank] ?? { token: '', logprob: 0 }), top };
  });
}

function usageOf({ messages }: GenerateRequest, completions: readonly Completion[]): Usage {
  const count = (text: string) => text.split(' ').filter((word) => word !== '').length;
  const inputTokens = messages.reduce((sum, { content }) => sum + count(content) + 1, 0);
  const outputTokens = completions.reduce(
    (sum, { text, finishReason }) => sum + count(text) + (finishReason === 'stop' ? 1 : 0),
    0,
  );
  return { inputTokens, outputTokens };
}
