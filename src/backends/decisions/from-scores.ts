import { ModelCallError } from '../../base/errors.ts';
import { expectation, expectFunction, expectObject, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type {
  Decision,
  DecisionModel,
  DecisionRequest,
  Question,
} from '../../contracts/decision-model.ts';
import type { Failure } from '../../contracts/failure.ts';
import type { Message, ModelCall } from '../../contracts/language-model.ts';
import type { Provenance } from '../../contracts/provenance.ts';
import { type PromptSet, promptsOf, withTexts } from '../../prompting/prompts.ts';
import {
  Endpoint,
  type EndpointOptions,
  endpointOptions,
  usageOfAll,
} from '../transport/endpoint.ts';
import { fieldsOf, itemsOf } from '../transport/json.ts';
import { labelScores } from '../transport/label-scores.ts';
import {
  codesOf,
  type DecisionPromptNames,
  decisionPrompts,
  questionText,
  withQuestion,
} from './codes.ts';
import { decisionFrom, expectQuestions, unread } from './read.ts';

interface Settings {
  readonly endpoint: Endpoint;
  readonly server: 'sglang' | 'vllm';
  readonly set: PromptSet<DecisionPromptNames>;
  readonly render: (messages: readonly Message[]) => string;
  readonly idsOf: ReturnType<typeof labelIdsOf>;
}

/**
 * Makes a decision model from a language model served by SGLang or vLLM: their scoring endpoints return the normalised
 * probabilities of the answer codes as the next token, without generating text. Questions with the same answers are
 * sent in one request. vLLM returns the probability of one code per request, so a scale or a choice takes one request
 * per answer.
 *
 * @throws EspalierError `usage` if an option is out of range. A code that is not one token is a
 * `ModelCallError` of the kind `capability`.
 */
export function decisionsFromScores(
  options: EndpointOptions & {
    /** The kind of server: SGLang has `/v1/score`, vLLM `/generative_scoring`. */
    readonly server: 'sglang' | 'vllm';
    /**
     * The token ids of the answer codes: `yes`, `no`, `0`, `1`, …, `A`, `B`, ….
     *
     * @defaultValue from the server's `/tokenize`; a code must be one token
     */
    readonly labelIds?: Readonly<Record<string, number>>;
    /**
     * Renders a conversation up to the start of the answer: the model's chat template.
     *
     * @defaultValue the messages, then `Answer:` and a line break
     */
    readonly render?: (messages: readonly Message[]) => string;
    /** Replacement texts. @defaultValue none */
    readonly prompts?: Partial<
      Readonly<Record<'choice' | 'meaning' | 'option' | 'scale' | 'yesNo', string>>
    >;
  },
): DecisionModel & Pick<Provenance, 'prompts'> {
  expectOptions(
    'decisionsFromScores',
    options,
    `${endpointOptions} server labelIds render prompts`,
  );
  const { server, labelIds = {}, render = plainText, prompts } = options;
  expectOneOf('server', server, ['sglang', 'vllm']);
  expectFunction('render', render);
  expectObject('labelIds', labelIds);
  for (const [code, id] of Object.entries(labelIds)) {
    if (!Number.isSafeInteger(id) || id < 0)
      throw expectation(`labelIds.${code}`, 'a token id', id);
  }
  const port = server === 'vllm' ? 8000 : 30000;
  const usual = { provider: server, baseUrl: `http://localhost:${port}/v1`, isFree: true };
  const endpoint = new Endpoint(usual, options);
  const set = withTexts(decisionPrompts, prompts);
  const idsOf = labelIdsOf(endpoint, labelIds);
  const settings = { endpoint, server, set, render, idsOf };
  const model = endpoint.kept<DecisionModel>({
    ...endpoint.names,
    decide: (request, call) => decide(request, { ...settings, call }),
  });
  return Object.defineProperty(model, 'prompts', { value: promptsOf(set), enumerable: true });
}

/** The ids of codes: from the options, or else from the server's tokenizer. */
function labelIdsOf(endpoint: Endpoint, given: Readonly<Record<string, number>>) {
  const known = Object.entries(given).map(([code, id]) => [code, Promise.resolve(id)] as const);
  const ids = new Map<string, Promise<number>>(known);
  const idOf = (code: string, call: ModelCall): Promise<number> => {
    const there = ids.get(code);
    if (there !== undefined) return there;
    const id = askForId(code, endpoint, call);
    ids.set(code, id);
    id.catch(() => ids.delete(code));
    return id;
  };
  return (codes: readonly string[], call: ModelCall): Promise<readonly number[]> =>
    Promise.all(codes.map((code) => idOf(code, call)));
}

async function askForId(code: string, endpoint: Endpoint, call: ModelCall): Promise<number> {
  const body = { model: endpoint.modelId, prompt: code, add_special_tokens: false };
  const { tokens } = fieldsOf(await endpoint.post('/tokenize', body, call));
  const [id] = itemsOf(tokens);
  if (itemsOf(tokens).length === 1 && typeof id === 'number') return id;
  throw new ModelCallError({
    kind: 'capability',
    message: `${endpoint.name} has no single token \`${code}\`; give its id in \`labelIds\`.`,
    charged: false,
  });
}

interface Prepared {
  readonly name: string;
  readonly question: Question;
  readonly codes: readonly string[];
  readonly query: string;
  readonly item: string;
}

async function decide(request: DecisionRequest, settings: Settings & { readonly call: ModelCall }) {
  expectQuestions(request);
  const prepared = Object.entries(request.questions).map(([name, question]): Prepared => {
    const text = questionText(question, settings.set);
    const rendered = settings.render(withQuestion(request.messages, text));
    // The text before the question is the same for all of them.
    const start = Math.max(0, rendered.lastIndexOf(text));
    const codes = codesOf(question);
    return { name, question, codes, query: rendered.slice(0, start), item: rendered.slice(start) };
  });
  const groups = new Map<string, Prepared[]>();
  for (const one of prepared) {
    const key = JSON.stringify([one.query, one.codes]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const asked = await Promise.all([...groups.values()].map((group) => ask(group, settings)));
  const answers = new Map(asked.flatMap(({ decisions }) => decisions));
  return {
    answers: Object.fromEntries(
      prepared.map(({ name }) => [
        name,
        answers.get(name) ?? unread('Expected a score, got none.'),
      ]),
    ),
    ...usageOfAll(asked.flatMap(({ usages }) => usages)),
  };
}

async function ask(group: readonly Prepared[], settings: Settings & { readonly call: ModelCall }) {
  const { endpoint, idsOf, server, call } = settings;
  const codes = group[0]?.codes ?? [];
  const ids = await idsOf(codes, call);
  const query = group[0]?.query ?? '';
  const asked = { query, items: group.map(({ item }) => item), server, call };
  // vLLM only reports the first code; for two codes that is enough.
  const firsts = server === 'sglang' || ids.length === 2 ? [0] : ids.map((_, first) => first);
  for (const _ of firsts.slice(1))
    await call.requestExtraCall?.('Each answer is scored by itself.');
  const replies = await Promise.all(
    firsts.map((first) =>
      labelScores(endpoint, { ...asked, ids: [...ids.slice(first), ...ids.slice(0, first)] }),
    ),
  );
  const isWhole = replies.every(({ rows }) => rows.length === group.length);
  return {
    decisions: group.map((one, place) => {
      const row = isWhole ? replies.flatMap(({ rows }) => rows[place] ?? []) : [];
      const [only] = row;
      const isHalf = server === 'vllm' && typeof only === 'number' && ids.length === 2;
      return [one.name, readRow(one, isHalf ? [only, 1 - only] : row)] as const;
    }),
    usages: replies.map(({ usage }) => usage),
  };
}

function readRow({ name, question, codes }: Prepared, row: readonly unknown[]): Decision {
  const isSound =
    row.length === codes.length &&
    row.every((number) => typeof number === 'number' && number >= -1e-6 && number <= 1 + 1e-6);
  if (!isSound) return faulty(name);
  const sum = (row as readonly number[]).reduce((total, number) => total + number, 0);
  // Probabilities from separate requests are rounded separately.
  if (Math.abs(sum - 1) > 0.02) return faulty(name);
  return decisionFrom(
    question,
    (row as readonly number[]).map((number) => number / sum),
  );
}

function faulty(name: string): Failure {
  return unread(`Expected the probabilities of the answers to \`${name}\`, got something else.`);
}

function plainText(messages: readonly Message[]): string {
  return `${messages.map(({ content }) => content).join('\n\n')}\n\nAnswer:\n`;
}
