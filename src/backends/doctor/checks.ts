import type { Completion, Message } from '../../contracts/language-model.ts';
import type { Check, Probe } from './probe.ts';

/** The checks for every model, in this order. */
export const checks: Readonly<Record<string, Check>> = {
  'several samples': severalSamples,
  'log-probabilities': logprobs,
  seed,
  stop,
  continuation,
  'JSON schema': schema,
  tools,
  thinking,
  'tier of service': serviceTier,
  cancellation,
  'prefix cache': prefixCache,
};

const yes = (detail: string) => ({ outcome: 'yes', detail }) as const;
const no = (detail: string) => ({ outcome: 'no', detail }) as const;
const ignored = (detail: string) => ({ outcome: 'ignored', detail }) as const;
const unknown = (detail: string) => ({ outcome: 'unknown', detail }) as const;

function user(content: string): readonly Message[] {
  return [{ role: 'user', content }];
}

const story = user('Write a short story about a gardener.');

async function severalSamples(probe: Probe) {
  const { completions } = await probe.ask(probe.heated({ messages: story, samples: 3 }));
  if (completions.length !== 3) return no(`Three were requested, ${completions.length} came.`);
  const different = new Set(completions.map(({ text }) => text)).size;
  return probe.model.capabilities.n === true
    ? yes(`One request brought three, ${different} different.`)
    : no(
        `Not tried, one request each: three came, ${different} different. With \`capabilities: { n: true }\` one request asks for all.`,
      );
}

async function logprobs(probe: Probe) {
  if (probe.model.capabilities.logprobs === false) return no('It is known not to report them.');
  const { completions } = await probe.ask({ messages: story, logprobs: true, topLogprobs: 5 });
  const [token] = completions[0]?.logprobs ?? [];
  if (token === undefined) return ignored('None came.');
  const alternatives = token.top?.length ?? 0;
  return yes(`${alternatives} alternatives per token.`);
}

async function seed(probe: Probe) {
  if (probe.model.capabilities.seed === false) return no('It is known to take none.');
  const draw = async (number: number) =>
    textOf((await probe.ask(probe.heated({ messages: story, seed: number }))).completions);
  const [first, again, other] = [await draw(1), await draw(1), await draw(1_000_003)];
  if (first !== again) return ignored('The same seed gave two texts.');
  return first === other
    ? unknown('Two seeds gave the same text.')
    : yes('The same seed gave the same text, another seed another text.');
}

async function stop(probe: Probe) {
  const messages = user('Count from 1 to 9, with spaces between the numbers.');
  const { completions } = await probe.ask({ messages, stop: ['4'], maxTokens: 64 });
  const isKept = !textOf(completions).includes('4');
  if (probe.model.capabilities.stop === false) return no('Answers are cut off locally instead.');
  return isKept
    ? yes('The answer ends before the stop string.')
    : ignored('The answer contains the stop string.');
}

async function continuation(probe: Probe) {
  if (probe.model.capabilities.continuation !== true) {
    return no('Steps so far are sent in the question.');
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
    ? ignored('It began anew.')
    : yes(`It continued: ${quote(text)}`);
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
  if (!isLegs(text)) return ignored(`It wrote ${quote(text)}`);
  return probe.model.capabilities.schema === true
    ? yes(`Answers are constrained to it: it wrote ${quote(text)}`)
    : no('It is requested in words, and was followed once.');
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
  if (probe.model.capabilities.tools === false) return no('It is known to have none.');
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
  return call === undefined ? ignored('It called none.') : yes(`It called ${call.name}.`);
}

async function thinking(probe: Probe) {
  const messages = user('What is 17 times 23? Answer with the number only.');
  const { completions, usage } = await probe.ask({ messages, maxTokens: 16 });
  const { text = '', reasoning = '', finishReason } = completions[0] ?? {};
  const { reasoningTokens = 0 } = usage;
  const thoughts = reasoningTokens > 0 ? `${reasoningTokens} tokens of thoughts` : 'thoughts';
  const { thoughtTokens = 0 } = probe.model;
  if (text.trim() === '' && finishReason === 'length') {
    return ignored(
      `It was cut off while thinking: \`thoughtTokens\` is ${thoughtTokens}, which is too few.`,
    );
  }
  if (reasoning === '' && reasoningTokens === 0) return no('It answered without thoughts.');
  return yes(`It answered after ${thoughts}; it may use ${thoughtTokens}.`);
}

async function serviceTier(probe: Probe) {
  const { usage } = await probe.ask({ messages: user('Say hello.') });
  return usage.serviceTier === undefined
    ? unknown('It is not told.')
    : yes(`It was served as ${quote(usage.serviceTier)}`);
}

/** Long enough to be still in progress when the client disconnects. */
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
  if (outcome === 'answered') return unknown('It answered before the connection could be closed.');
  const ms = Math.round(probe.clock.now() - startedAt - 50);
  return yes(
    `The connection was closed within ${Math.max(0, ms)} ms. Whether the server stops generating is unknown.`,
  );
}

async function prefixCache(probe: Probe) {
  const garden = Array.from(
    { length: 140 },
    (_, row) => `Row ${row + 1} holds ${row * 7 + 3} pears.`,
  );
  const beginning = `${garden.join(' ')} `;
  const ask = (question: string) =>
    probe.ask({
      messages: [
        { role: 'user', content: beginning + question, prefixEnds: [beginning.length - 1] },
      ],
      maxTokens: 4,
    });
  await ask('How many rows are there?');
  const { usage } = await ask('How many pears are in row 7?');
  const { cachedTokens, inputTokens } = usage;
  if (cachedTokens === undefined) return unknown('It is not told.');
  const detail = `${cachedTokens} of ${inputTokens ?? 'unknown'} tokens of a second prompt came from it.`;
  return (cachedTokens > 0 ? yes : no)(detail);
}

function textOf(completions: readonly Completion[]): string {
  return completions[0]?.text ?? '';
}

/** An excerpt of a model's text, on one line, without control characters. */
function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ').trim();
  return `“${line.length > 48 ? `${line.slice(0, 48)}…` : line}”`;
}
