/** A model of the backend `llama` on a fake of node-llama-cpp. */
import {
  type LlamaLanguageModel,
  type LlamaOptions,
  llama,
} from '../../../src/backends/llama/index.ts';
import { seededRandom } from '../../../src/base/random.ts';
import type { Clock, GenerateRequest, Generation } from '../../../src/index.ts';
import { manualClock } from '../../../src/testing/index.ts';
import { end, FakeModel, type FakeOptions, letters, randomLogits } from './fake-llama.ts';

export const clock: Clock = manualClock({ auto: true });
export const never: AbortSignal = new AbortController().signal;

export type Wish = Omit<GenerateRequest, 'messages'> & { readonly prompt?: string };

export interface Bench {
  readonly native: FakeModel;
  readonly model: LlamaLanguageModel;
  ask(wish?: Wish, signal?: AbortSignal): Promise<Generation>;
}

export function bench(fake: FakeOptions = {}, options: Partial<LlamaOptions> = {}): Bench {
  const native = new FakeModel(fake);
  const model = llama({ llama: native, sequences: 3, ...options });
  return {
    native,
    model,
    ask({ prompt = 'hello', ...request } = {}, signal = never) {
      const messages = [{ role: 'user' as const, content: prompt }];
      return model.generate({ messages, ...request }, { signal, clock });
    },
  };
}

export const textsOf = ({ completions }: Generation): readonly string[] =>
  completions.map(({ text }) => text);

const tokensOf = (text: string) => [0, ...[...text].map((letter) => letters.indexOf(letter))];

/** Which sample, and how it is drawn. */
export interface SampleWish {
  readonly seed?: number;
  readonly index?: number;
  readonly maxTokens?: number;
  readonly temperature?: number;
}

/** A sample by its definition: from the whole distribution after the whole text, token by token. */
export function sampleByHand(
  prompt: string,
  { seed = 0, index = 0, maxTokens = 12, temperature = 1 }: SampleWish = {},
): string {
  const tokens = tokensOf(prompt);
  const random = seededRandom(seed).split(tokens.join(' ')).split(index);
  let text = '';
  for (let length = 0; length < maxTokens; length++) {
    const ranked = [...randomLogits(letters.length)(tokens).entries()].toSorted(
      ([, one], [, other]) => other - one,
    );
    const weights = ranked.map(([, logit]) =>
      Math.exp((logit - (ranked[0]?.[1] ?? 0)) / temperature),
    );
    let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
    const place = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    const token = ranked[place]?.[0] ?? 0;
    if (token === end) break;
    tokens.push(token);
    text += token === 0 ? '' : letters[token];
  }
  return text;
}
