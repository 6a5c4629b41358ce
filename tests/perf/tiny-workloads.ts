/** What `npm run bench:tiny` has both sides do. */
import type { Message, Random } from 'espalier';
import { seededRandom } from 'espalier';
import { gameOf24 } from 'espalier/environments';
import type { Chat } from '../../src/backends/in-process/chat.ts';

/** Samples of one prompt. */
export interface Ask {
  readonly messages: readonly Message[];
  /** The prompt as both sides read it. */
  readonly tokens: readonly number[];
  readonly samples: number;
  /** How many tokens each sample may have. */
  readonly draws: number;
  readonly temperature: number;
}

/** Something to be timed. */
export interface Workload {
  readonly name: string;
  /** What is counted: tokens that went through the model, tokens drawn, or tokens of prompts, read or not. */
  readonly unit: 'computed' | 'drawn' | 'prompt';
  /** How many samples are written at once. */
  readonly batch: 1 | 8;
  /** Whether what was read before may be used. */
  readonly reuse: boolean;
  /** What is done before the clock starts. */
  readonly warm: readonly Ask[];
  /** One after another; the parts of each at once. */
  readonly rounds: readonly (readonly Ask[])[];
}

/** Makes a prompt. */
type Put = (text: string, wish: Omit<Ask, 'messages' | 'tokens'>) => Ask;

// So hot that all tokens are about equally likely: no sample repeats another, and few end early.
const hot = 100;

/** All workloads for a model. */
export function workloads(chat: Chat, contextLength: number): readonly Workload[] {
  const put: Put = (text, wish) => {
    const messages: readonly Message[] = [{ role: 'user', content: text }];
    const tokens = chat(messages);
    if (tokens.length + wish.draws < contextLength) return { messages, tokens, ...wish };
    throw new Error(`The context of the model is too short: it has ${contextLength} tokens.`);
  };
  const random = seededRandom('bench');
  const ready = put(words(put, 64, random.split('warm')), { ...once, samples: 8, draws: 8 });
  return [
    ...generation(put, ready),
    ...prefill(put, ready, random.split('prefill')),
    ...searching(put, ready, random.split('search')),
  ];
}

const once = { samples: 1, draws: 1, temperature: hot };

/** What share of its tokens a prompt has in common with the one before it, on average. */
export function sharedPart({ rounds }: Workload): number {
  const prompts = rounds.flatMap((round) => round.map(({ tokens }) => tokens));
  const parts = prompts.slice(1).map((tokens, place) => {
    const before = prompts[place] ?? [];
    const first = tokens.findIndex((token, at) => token !== before[at]);
    return (first < 0 ? tokens.length : first) / tokens.length;
  });
  return parts.reduce((sum, part) => sum + part, 0) / parts.length;
}

function generation(put: Put, ready: Ask): readonly Workload[] {
  const [prompt = ''] = searchPrompts(1);
  return ([1, 8] as const).map((batch) => ({
    name: `generation, batch ${batch}`,
    unit: 'computed',
    batch,
    reuse: true,
    warm: [ready, put(prompt, once)],
    rounds: [[put(prompt, { samples: batch === 1 ? 6 : 24, draws: 48, temperature: hot })]],
  }));
}

function prefill(put: Put, ready: Ask, random: Random): readonly Workload[] {
  const common = { batch: 1, warm: [ready] } as const;
  const start = words(put, 230, random.split('start'));
  const endings = Array.from(
    { length: 40 },
    (_, place) => `${start} ${words(put, 26, random.split(place))}`,
  );
  const fresh = Array.from({ length: 8 }, (_, place) => words(put, 256, random.split(`${place}`)));
  const rounds = (texts: readonly string[]) => texts.map((text) => [put(text, once)]);
  return [
    {
      ...{ name: 'prefill of 256, no reuse', unit: 'computed', reuse: false },
      ...{ ...common, rounds: rounds(fresh) },
    },
    {
      ...{ name: 'prefill of 256, reuse', unit: 'prompt', reuse: true },
      ...{ ...common, rounds: rounds(endings) },
    },
  ];
}

/**
 * 8 samples for each state of a search, behind words that all its prompts share. Without reuse these words are
 * others for each sample, so that nothing of a prompt has been read before.
 */
function searching(put: Put, ready: Ask, random: Random): readonly Workload[] {
  const behind = (state: string, seed: string, samples: number): Ask => {
    const text = `${words(put, 60, random.split(seed))}\n\n${state}`;
    return put(text, { samples, draws: 16, temperature: 1 });
  };
  const states = searchPrompts(40);
  const alone = states
    .slice(0, 2)
    .flatMap((state, place) =>
      Array.from({ length: 8 }, (_, sample) => behind(state, `${place} ${sample}`, 1)),
    );
  return ([1, 8] as const).flatMap((batch): readonly Workload[] => [
    {
      ...{ name: `search, batch ${batch}, no reuse`, unit: 'drawn', batch, reuse: false },
      warm: [ready],
      rounds: Array.from({ length: alone.length / batch }, (_, round) =>
        alone.slice(round * batch, (round + 1) * batch),
      ),
    },
    {
      ...{ name: `search, batch ${batch}, reuse`, unit: 'drawn', batch, reuse: true },
      warm: [ready],
      // One at a time takes several times as long.
      rounds: states.slice(0, batch === 1 ? 10 : 40).map((state) => [behind(state, 'shared', 8)]),
    },
  ]);
}

/** What a model is asked in the first states of one puzzle, breadth first. */
function searchPrompts(count: number): readonly string[] {
  const environment = gameOf24.environment({ numbers: [4, 9, 10, 13] });
  const states = [environment.reset().state];
  for (let place = 0; states.length < count; place++) {
    const state = states[place];
    if (state === undefined) throw new Error(`The puzzle has fewer than ${count} states.`);
    for (const action of environment.actions(state)) {
      states.push(environment.step(state, action).state);
    }
  }
  return states.slice(0, count).map((state) => {
    const [message] = environment.notation.prompt(state);
    return message?.content ?? '';
  });
}

/** Random words that make a prompt of as many tokens, or a few more. */
function words(put: Put, count: number, random: Random): string {
  let text = '';
  while (put(text, { ...once, draws: 0 }).tokens.length < count) {
    const letters = Array.from({ length: 1 + random.integer(6) }, () =>
      String.fromCharCode(97 + random.integer(26)),
    );
    text += `${letters.join('')} `;
  }
  return text.trim();
}
