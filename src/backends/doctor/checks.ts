import type { Completion, Message } from '../../contracts/language-model.ts';
import type { Check, Probe } from './probe.ts';

/** What is probed of every model, in this order. */
export const checks: Readonly<Record<string, Check>> = {
  'several samples': severalSamples,
  'log-probabilities': logprobs,
  seed,
  stop,
  continuation,
  'JSON schema': schema,
  tools,
  cancellation,
  'prefix cache': prefixCache,
};

function user(content: string): readonly Message[] {
  return [{ role: 'user', content }];
}

const story = user('Write a short story about a gardener.');

async function severalSamples(probe: Probe) {
  const { completions } = await probe.ask(probe.heated({ messages: story, samples: 3 }));
  if (completions.length !== 3) {
    return { outcome: 'no', detail: `Three were asked for, ${completions.length} came.` } as const;
  }
  const different = new Set(completions.map(({ text }) => text)).size;
  return probe.model.capabilities.n === true
    ? ({ outcome: 'yes', detail: `One request brought three, ${different} different.` } as const)
    : ({ outcome: 'no', detail: `One request each: three came, ${different} different.` } as const);
}

async function logprobs(probe: Probe) {
  if (probe.model.capabilities.logprobs === false) {
    return { outcome: 'no', detail: 'It is known not to tell them.' } as const;
  }
  const { completions } = await probe.ask({ messages: story, logprobs: true, topLogprobs: 5 });
  const [token] = completions[0]?.logprobs ?? [];
  if (token === undefined) return { outcome: 'ignored', detail: 'None came.' } as const;
  const alternatives = token.top?.length ?? 0;
  return { outcome: 'yes', detail: `${alternatives} alternatives a token.` } as const;
}

async function seed(probe: Probe) {
  if (probe.model.capabilities.seed === false) {
    return { outcome: 'no', detail: 'It is known to take none.' } as const;
  }
  const draw = async (number: number) =>
    textOf((await probe.ask(probe.heated({ messages: story, seed: number }))).completions);
  const [first, again, other] = [await draw(1), await draw(1), await draw(1_000_003)];
  if (first !== again) {
    return { outcome: 'ignored', detail: 'The same seed gave two texts.' } as const;
  }
  return first === other
    ? ({ outcome: 'unknown', detail: 'Two seeds gave the same text.' } as const)
    : ({
        outcome: 'yes',
        detail: 'The same seed gave the same text, another one another.',
      } as const);
}

async function stop(probe: Probe) {
  const messages = user('Count from 1 to 9, with spaces between the numbers.');
  const { completions } = await probe.ask({ messages, stop: ['4'], maxTokens: 64 });
  const isKept = !textOf(completions).includes('4');
  if (probe.model.capabilities.stop === false) {
    return { outcome: 'no', detail: 'Answers are cut off here instead.' } as const;
  }
  return isKept
    ? ({ outcome: 'yes', detail: 'The answer ends before the stop string.' } as const)
    : ({ outcome: 'ignored', detail: 'The answer holds the stop string.' } as const);
}

async function continuation(probe: Probe) {
  if (probe.model.capabilities.continuation !== true) {
    return { outcome: 'no', detail: 'Steps so far are told in the question.' } as const;
  }
  const beginning = 'The first letters of the alphabet are A, B, C,';
  const { completions } = await probe.ask({
    messages: [
      ...user('Name the first letters of the alphabet.'),
      { role: 'assistant', content: beginning },
    ],
  });
  const text = textOf(completions);
  return text.trimStart().startsWith(beginning.slice(0, 20))
    ? ({ outcome: 'ignored', detail: 'It began anew.' } as const)
    : ({ outcome: 'yes', detail: `It went on: ${quote(text)}` } as const);
}

async function schema(probe: Probe) {
  const { completions } = await probe.ask({
    messages: user('How many legs has a spider? Answer as JSON: {"legs": number}.'),
    schema: {
      type: 'object',
      properties: { legs: { type: 'integer' } },
      required: ['legs'],
      additionalProperties: false,
    },
    maxTokens: 64,
  });
  const text = textOf(completions);
  if (!isLegs(text)) return { outcome: 'ignored', detail: `It wrote ${quote(text)}` } as const;
  return probe.model.capabilities.schema === true
    ? ({ outcome: 'yes', detail: `It wrote ${quote(text)}` } as const)
    : ({ outcome: 'no', detail: 'Asked for in words, it was kept once.' } as const);
}

function isLegs(text: string): boolean {
  try {
    const json: unknown = JSON.parse(text);
    return (
      typeof json === 'object' &&
      json !== null &&
      Number.isInteger((json as { legs?: unknown }).legs)
    );
  } catch {
    return false;
  }
}

async function tools(probe: Probe) {
  if (probe.model.capabilities.tools === false) {
    return { outcome: 'no', detail: 'It is known to have none.' } as const;
  }
  const { completions } = await probe.ask({
    messages: user('What is 17 times 23? Use the tool.'),
    tools: [
      {
        name: 'multiply',
        description: 'Multiplies two numbers.',
        input: {
          type: 'object',
          properties: { a: { type: 'number' }, b: { type: 'number' } },
          required: ['a', 'b'],
        },
      },
    ],
    maxTokens: 128,
  });
  const call = completions[0]?.toolCalls?.[0];
  return call === undefined
    ? ({ outcome: 'ignored', detail: 'It called none.' } as const)
    : ({ outcome: 'yes', detail: `It called ${call.name}.` } as const);
}

/** Long enough that it is still being written when the client leaves. */
const longAnswer = 512;

async function cancellation(probe: Probe) {
  const controller = new AbortController();
  const startedAt = probe.clock.now();
  const answer = probe.ask({ messages: story, maxTokens: longAnswer }, controller.signal).then(
    () => 'answered' as const,
    () => 'left' as const,
  );
  const timer = probe.clock.sleep(50).then(() => controller.abort(new Error('Enough.')));
  const outcome = await answer;
  await timer;
  if (outcome === 'answered') {
    return { outcome: 'unknown', detail: 'It answered before it could be left.' } as const;
  }
  const ms = Math.round(probe.clock.now() - startedAt - 50);
  return {
    outcome: 'yes',
    detail: `The connection was closed within ${Math.max(0, ms)} ms. Whether the server stops is its own matter.`,
  } as const;
}

async function prefixCache(probe: Probe) {
  const garden = Array.from(
    { length: 60 },
    (_, row) => `Row ${row + 1} holds ${row * 7 + 3} pears.`,
  );
  const beginning = `${garden.join(' ')} `;
  const ask = (question: string) =>
    probe.ask({ messages: user(beginning + question), maxTokens: 4 });
  await ask('How many rows are there?');
  const { usage } = await ask('How many pears are in row 7?');
  const { cachedTokens, inputTokens } = usage;
  if (cachedTokens === undefined) return { outcome: 'unknown', detail: 'It is not told.' } as const;
  const detail = `${cachedTokens} of ${inputTokens ?? 'unknown'} tokens of a second prompt came from it.`;
  return { outcome: cachedTokens > 0 ? 'yes' : 'no', detail } as const;
}

function textOf(completions: readonly Completion[]): string {
  return completions[0]?.text ?? '';
}

/** A short piece of a model's text, on one line, without what could steer a terminal. */
function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ').trim();
  return `“${line.length > 48 ? `${line.slice(0, 48)}…` : line}”`;
}
