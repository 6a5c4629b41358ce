/** Searches over tools with a client of an official SDK that you have made yourself, with its key, proxy and logging. */
import assert from 'node:assert/strict';
import { env } from 'node:process';
import { isDeepStrictEqual } from 'node:util';
import { Anthropic } from '@anthropic-ai/sdk';
import { bestFirst, renderTree, search, solved } from 'espalier';
import { anthropic, openai } from 'espalier/backends';
import { toolEnvironment } from 'espalier/environments';
import { callTools } from 'espalier/policies';
import { judge } from 'espalier/values';
import { OpenAI } from 'openai';
import * as z from 'zod';

const headers = { 'x-team': 'returns' };
const model = env['ANTHROPIC_API_KEY']
  ? anthropic({
      client: new Anthropic({ defaultHeaders: headers }),
      model: 'claude-haiku-5-5',
      effort: 'low',
    })
  : openai({
      client: new OpenAI({ defaultHeaders: headers }),
      model: 'gpt-6-luna',
      reasoningEffort: 'low',
    });

const orders = [
  { order: 'A-17', customer: 'Ada', article: 'kettle', dollars: 30 },
  { order: 'A-21', customer: 'Ada', article: 'toaster', dollars: 45 },
  { order: 'B-03', customer: 'Bob', article: 'toaster', dollars: 40 },
];
const returned = { 'A-21': 45 }; // what has come back to the shop; the model is not told
const refunds: Record<string, number> = {};

const shop = toolEnvironment(
  { refunds },
  {
    name: 'shop',
    task: "Ada's toaster came broken. Refund what she has paid for it, and nothing else.",
    tools: (tool) => ({
      find: tool({
        description: 'Lists the orders of a customer.',
        input: z.object({ customer: z.string() }),
        effect: 'read',
        run: (_, { customer }) => orders.filter((order) => order.customer === customer),
      }),
      refund: tool({
        description: 'Refunds an order, in part or in full.',
        input: z.object({ order: z.string(), dollars: z.number().positive() }),
        effect: 'pure', // a branch of the search refunds in its own copy of the data
        run: (data, { order, dollars }) => ({
          state: { refunds: { ...data.refunds, [order]: dollars } },
          output: 'refunded',
        }),
      }),
    }),
    done: (data) => isDeepStrictEqual(data.refunds, returned),
  },
);

const { tree, best, usage } = await search(shop, {
  policy: callTools({ model, samples: 2 }),
  evaluator: judge({ model, samples: 1 }),
  algorithm: bestFirst({ maxDepth: 4 }),
  budget: { calls: 40, usd: 0.05 },
  stopWhen: solved(),
});
console.log(renderTree(tree, { format: shop.notation.format, width: 80 }));
for (const { role, model: name, calls } of usage) console.log(`${role}: ${calls} calls of ${name}`);

assert.ok(best.kind !== 'proposed');
assert.deepEqual(best.state.data.refunds, returned);
