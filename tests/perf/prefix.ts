// What do searches pay for prompts that they have sent before? The requests of five searches on a short and a long problem,
// as the backends send them, charged by the rules of Anthropic's and of OpenAI's caches; beside it the same requests with
// each prompt in one piece, which is what a search costs whose prompts are not laid out for a cache. All shares are of
// what the input would cost without any cache. Fails where a long problem costs more than a fifth.
import { parseArgs } from 'node:util';
import { beam, bestOfN, lats, mcts, type SearchOptions, search } from 'espalier';
import { anthropic, openai } from 'espalier/backends';
import { reasoning } from 'espalier/environments';
import { agentQ } from 'espalier/methods';
import { fromModel } from 'espalier/policies';
import { judge } from 'espalier/values';
import { table } from '../../src/base/table.ts';
import type { Loose } from '../support/loose.ts';

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '300' }, seed: { type: 'string', default: '0' } },
});
const budget = { calls: Number(values.calls) };

/** Of a long problem at most so much may be paid. */
const aim = 0.2;
const words = (seed: number, count: number): string =>
  Array.from({ length: count }, (_, place) => {
    const letters = ((seed * 7919 + place * 104_729) % 8_031_810_176).toString(26);
    return letters.replaceAll(/\d/g, 'x').padStart(4, 'm').slice(-5);
  }).join(' ');
const problems = { short: 'What is 7 + 5?', long: `${words(3, 900)}. What is 7 + 5?` };

/** A part of a prompt: what it says, and whether the end of it is marked. */
interface Block {
  readonly text: string;
  readonly isMarked: boolean;
}

/** What a cache charges for prompts, in the price of a token that is just read. */
interface Rules {
  /** Shorter prefixes are not kept, in tokens. */
  readonly least: number;
  /** How many blocks before a mark are looked at, at most. */
  readonly lookback: number;
  /** How many marks, the newest, are written, at most. */
  readonly written: number;
  readonly read: number;
  readonly write: number;
}
const rules = {
  anthropic: { least: 512, lookback: 20, written: 4, read: 0.1, write: 1.25 },
  openai: { least: 1024, lookback: 0, written: 4, read: 0.1, write: 1.25 },
} satisfies Readonly<Record<string, Rules>>;

const judgements = ['sure', 'likely', 'impossible'];

const tokensOf = (text: string): number => Math.ceil(text.length / 4);

/** A provider's cache, which forgets nothing. */
class Cache {
  readonly #rules: Rules;
  readonly #kept = new Set<string>();

  constructor(given: Rules) {
    this.#rules = given;
  }

  /** What a prompt costs, as read tokens. What was kept under another key is not found. */
  cost(blocks: readonly Block[], key: string = ''): number {
    const { least, lookback, written, read, write } = this.#rules;
    const ends = blocks.map((_, place) => blocks.slice(0, place + 1));
    const prefixes = ends.map((some) => [key, ...some.map(({ text }) => text)].join(' '));
    const tokens = ends.map((some) => tokensOf(some.map(({ text }) => text).join(' ')));
    const marks = blocks.flatMap(({ isMarked }, place) => (isMarked ? [place] : []));
    const seen = marks
      .flatMap((mark) => Array.from({ length: lookback + 1 }, (_, back) => mark - back))
      .filter((place) => place >= 0 && this.#kept.has(prefixes[place] as string));
    const hit = Math.max(0, ...seen.map((place) => tokens[place] as number));
    const due = marks.slice(-written).filter((mark) => (tokens[mark] as number) >= least);
    for (const mark of due) this.#kept.add(prefixes[mark] as string);
    const last = Math.max(hit, ...due.map((mark) => tokens[mark] as number));
    const all = tokens.at(-1) ?? 0;
    return hit * read + (last - hit) * write + (all - last);
  }
}

/** The blocks of a request, as a provider is sent them. */
function blocksOf({ system = [], messages, input }: Loose): readonly Block[] {
  const turns: readonly Loose[] = messages ?? input;
  return [...system, ...turns].flatMap((turn: Loose): readonly Block[] => {
    const content = turn.content ?? turn.output ?? turn.text ?? '';
    const parts: readonly Loose[] = Array.isArray(content) ? content : [{ ...turn, text: content }];
    return parts.map((part) => ({
      text: String(part.text),
      isMarked: part.cache_control !== undefined || part.prompt_cache_breakpoint !== undefined,
    }));
  });
}

/** The same prompt in one piece, marked at its end. */
const inOnePiece = (blocks: readonly Block[]): readonly Block[] => [
  { text: blocks.map(({ text }) => text).join(' '), isMarked: true },
];

interface Sums {
  uncached: number;
  before: number;
  after: number;
}

/** A model that answers at once, with all that is sent to it charged. */
function charged(provider: keyof typeof rules, sums: Sums) {
  const [before, after] = [new Cache(rules[provider]), new Cache(rules[provider])];
  let answers = 0;
  const answer = (prompt: string): string => {
    answers++;
    const asked = prompt.slice(-400);
    if (asked.includes('Judge how likely')) return judgements[answers % 3] ?? '';
    if (asked.includes('yes or no')) return answers % 2 === 0 ? 'yes' : 'no';
    if (asked.includes('number')) return '1';
    const step = Number(/Write step (\d+)/.exec(prompt)?.[1] ?? 1);
    const text = words(answers, 30);
    return step >= 7 ? `${text}. The answer is ${answers}.` : `${text}.`;
  };
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const body: Loose = JSON.parse(String(init?.body));
    const blocks = blocksOf(body);
    const { n = 1 } = body as { readonly n?: number };
    sums.uncached += tokensOf(blocks.map(({ text }) => text).join(' '));
    sums.before += before.cost(inOnePiece(blocks));
    sums.after += after.cost(blocks, body.prompt_cache_key);
    const prompt = blocks.map(({ text }) => text).join('');
    const texts = Array.from({ length: n }, () => answer(prompt));
    const reply = replyTo(String(url), texts);
    return (body as { readonly stream?: boolean }).stream === true
      ? streamOf(reply as Loose)
      : Response.json(reply);
  };
  const settings = { apiKey: 'key', fetch, retry: false } as const;
  return provider === 'anthropic'
    ? anthropic({ model: 'claude-sonnet-5-5', ...settings })
    : openai({ model: 'gpt-6-luna', ...settings });
}

function replyTo(url: string, texts: readonly string[]): object {
  const [text = ''] = texts;
  if (url.endsWith('/messages')) {
    return {
      ...{ type: 'message', role: 'assistant', content: [{ type: 'text', text }] },
      ...{ stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } },
    };
  }
  const usage = { prompt_tokens: 1, completion_tokens: 1, input_tokens: 1, output_tokens: 1 };
  if (url.endsWith('/responses')) {
    const content = [{ type: 'output_text', text }];
    return { status: 'completed', output: [{ type: 'message', content }], usage };
  }
  const choices = texts.map((content, index) => ({
    ...{ index, finish_reason: 'stop', message: { role: 'assistant', content } },
  }));
  return { choices, usage };
}

/** A message of the Messages API, event by event. */
function streamOf({ content, usage, ...message }: Loose): Response {
  const start = { ...message, id: 'm', model: 'm', content: [], stop_reason: null, usage };
  const delta = { type: 'text_delta', text: content[0].text };
  const events = [
    { type: 'message_start', message: start },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } });
}

type Model = ReturnType<typeof charged>;

const guided = (model: Model, algorithm: SearchOptions['algorithm']) => ({
  policy: fromModel({ model }),
  evaluator: judge({ model, samples: 1 }),
  algorithm,
});
const searches: Readonly<Record<string, (model: Model) => object>> = {
  mcts: (model) => guided(model, mcts()),
  lats: (model) => guided(model, lats()),
  beam: (model) => guided(model, beam()),
  'agent-q': (model) => ({ method: agentQ({ model }) }),
  'best of n': (model) => guided(model, bestOfN()),
};

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
const missed: string[] = [];
for (const [kind, question] of Object.entries(problems)) {
  const rows: string[][] = [];
  for (const provider of ['anthropic', 'openai'] as const) {
    const total: Sums = { uncached: 0, before: 0, after: 0 };
    for (const [name, settings] of Object.entries(searches)) {
      const sums: Sums = { uncached: 0, before: 0, after: 0 };
      const model = charged(provider, sums);
      const given = { ...settings(model), budget, seed: Number(values.seed) } as SearchOptions;
      const { spend, stopReason, failure } = await search(reasoning({ question }), given);
      if (stopReason === 'failed') throw new Error(`${name}: ${failure?.message}`);
      rows.push([
        ...[provider, name, String(spend.calls), String(sums.uncached)],
        ...[share(sums.before, sums.uncached), share(sums.after, sums.uncached)],
      ]);
      for (const field of ['uncached', 'before', 'after'] as const) total[field] += sums[field];
    }
    rows.push([
      ...[provider, 'together', '', String(total.uncached)],
      ...[share(total.before, total.uncached), share(total.after, total.uncached)],
    ]);
    if (kind === 'long' && total.after > aim * total.uncached) missed.push(provider);
  }
  process.stdout.write(
    `A ${kind} problem of ${tokensOf(question)} tokens\n\n${table([
      ['provider', 'search', 'calls', 'tokens read', 'in one piece', 'in pieces'],
      ...rows,
    ])}\n\n`,
  );
}
if (missed.length > 0) {
  process.stderr.write(
    `With ${missed.join(' and ')} a long problem costs more than ${aim * 100} %.\n`,
  );
  process.exitCode = 1;
}
