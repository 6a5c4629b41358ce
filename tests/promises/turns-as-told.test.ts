import { afterAll, describe, expect, test } from 'vitest';
import { anthropic, openai } from '../../src/backends/index.ts';
import { type Journal, memoryJournal, replayed } from '../../src/calls/journal.ts';
import type { LanguageModel } from '../../src/contracts/language-model.ts';
import { bestTrajectories } from '../../src/data/sft/best-trajectories.ts';
import { beam, search, treeFromJson, treeToJson } from '../../src/index.ts';
import { callTools } from '../../src/policies/index.ts';
import {
  type Emulator,
  type EmulatorOptions,
  emulator,
  plainContext,
} from '../../src/testing/index.ts';
import { judge } from '../../src/values/index.ts';
import { type Shop, type Step, shop } from '../policies/shop.ts';

const open: Emulator[] = [];
afterAll(async () => {
  for (const server of open) await server.close();
});

/** A model that thinks, looks twice, and answers; as a judge it says that all is well. */
const answer: NonNullable<EmulatorOptions['answer']> = ({ messages, tools = [], toolChoice }) => {
  const looked = messages.filter(({ role }) => role === 'tool').length;
  if (toolChoice === 'none' || tools.length === 0) return { reasoning: 'Well.', text: 'sure' };
  const call =
    looked < 2
      ? { name: 'price', input: { thing: looked === 0 ? 'tea' : 'milk' } }
      : { name: 'answer', input: { text: 'Tea.' } };
  return { reasoning: `Thought ${looked}.`, toolCalls: [call] };
};

async function served(dialect: 'anthropic' | 'openai') {
  const models = ['claude-sonnet-5-5', 'gpt-6-luna'];
  const server = await emulator({ dialect, models, answer });
  open.push(server);
  return { server, at: { apiKey: 'key', baseUrl: server.url, retry: false } as const };
}

function run(model: LanguageModel, journal: Journal = memoryJournal()) {
  return search<Shop, Step>(shop, {
    policy: callTools({ model }),
    evaluator: judge({ model, samples: 1, maxTokens: 64 }),
    algorithm: beam({ width: 1, samples: 1, maxDepth: 4 }),
    budget: { calls: 20 },
    journal,
  });
}

describe.each(['anthropic', 'openai'] as const)(
  'a search with a model of %s that thinks',
  (name) => {
    async function model() {
      const { server, at } = await served(name);
      const asked =
        name === 'anthropic'
          ? anthropic({ model: 'claude-sonnet-5-5', thinking: { type: 'adaptive' }, ...at })
          : openai({ model: 'gpt-6-luna', ...at });
      return { server, asked };
    }

    test('hands its thoughts back on each turn of tools, also after a tree was saved', async () => {
      const { server, asked } = await model();
      const journal = memoryJournal();
      const { best, tree } = await run(asked, journal);

      expect(best.depth).toBe(3);
      expect(best.kind === 'root' ? undefined : best.action).toMatchObject({ tool: 'answer' });
      // Nobody is refused, the judge included, who is shown the same turns.
      expect([...tree.nodes()].flatMap(({ failedEvaluations }) => failedEvaluations)).toEqual([]);
      const sent = JSON.stringify(server.requests.at(-1)?.body);
      const seals = sent.match(/"signature"|"encrypted_content"/g) ?? [];
      expect(seals.length).toBeGreaterThanOrEqual(2);

      const loaded = treeFromJson<Shop, Step>(JSON.parse(JSON.stringify(treeToJson(tree))));
      const turns = [...loaded.nodes()].map(({ completion }) => completion?.original?.provider);
      expect(turns).toEqual([undefined, name, name, name]);
      expect([...loaded.nodes()].map(({ completion }) => completion)).toEqual(
        [...tree.nodes()].map(({ completion }) => completion),
      );

      // A replay asks nobody, and comes to the same turns.
      const asks = server.requests.length;
      const again = await run(asked, replayed(journal));
      expect(treeToJson(again.tree)).toEqual(treeToJson(tree));
      expect(server.requests).toHaveLength(asks);
    });

    test('leaves rows without them', async () => {
      const { asked } = await model();
      const { tree } = await run(asked);
      const { notation } = shop;
      if (notation === undefined) throw new Error('The shop has a notation.');
      const rows = [...bestTrajectories().rows([{ problem: 'p', tree, notation }])];
      expect(rows.length).toBeGreaterThan(0);
      expect(rows[0]?.tools).toEqual(notation.tools);
      const told = JSON.stringify(rows.map(({ prompt, completion }) => [prompt, completion]));
      expect(told).toContain('"toolCalls"');
      expect(told).not.toContain('original');
    });
  },
);

test('thoughts that the server does not know again are left out from then on, and it is said', async () => {
  const seen: { messages: readonly object[] }[] = [];
  const message =
    'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.';
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const body = JSON.parse(String(init?.body)) as (typeof seen)[number];
    seen.push(body);
    if (JSON.stringify(body).includes('"thinking"')) {
      const error = { type: 'invalid_request_error', message };
      return Response.json({ type: 'error', error }, { status: 400 });
    }
    return Response.json({
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'claude-sonnet-5-5' },
      ...{ content: [{ type: 'text', text: 'fine' }], stop_reason: 'end_turn' },
      usage: { input_tokens: 3, output_tokens: 1 },
    });
  };
  const model = anthropic({ model: 'claude-sonnet-5-5', apiKey: 'key', retry: false, fetch });
  const toolCalls = [{ id: 't', name: 'price', input: {} }];
  const data = [
    { type: 'thinking', thinking: 'Hm.', signature: 'of another conversation' },
    { type: 'tool_use', id: 't', name: 'price', input: {} },
  ];
  const messages = [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: '', toolCalls, original: { provider: 'anthropic', data } },
    { role: 'tool', content: '3', toolCallId: 't' },
  ] as const;
  const warnings: string[] = [];
  const { signal, clock } = plainContext();
  const call = {
    signal,
    clock,
    warn: ({ message: said }: { message: string }) => void warnings.push(said),
  };
  await model.generate({ messages }, call);
  await model.generate({ messages }, call);
  expect(seen).toHaveLength(3);
  expect(seen[1]?.messages[1]).toMatchObject({ content: [{ type: 'tool_use', id: 't' }] });
  expect(warnings).toEqual([expect.stringContaining('earlier turns')]);
});
