import { describe, test } from 'vitest';
import type { ActionOf, ToolState } from '../../../src/environments/index.ts';
import type { Environment } from '../../../src/index.ts';
import { describeEnvironment } from '../../../src/testing/index.ts';
import { counter, files, lookUp, shop } from './tasks.ts';

const runner = { describe, test };

function open<State extends ToolState<unknown, unknown>, Action>(
  create: () => Environment<State, Action>,
  actions: readonly Action[],
): void {
  describeEnvironment(
    create().name,
    { create, actions: ({ ended }) => (ended === undefined ? actions : []), maxDepth: 6 },
    runner,
  );
}

const counts: readonly ActionOf<ReturnType<typeof counter>>[] = [
  { tool: 'add', input: { by: 1 } },
  { tool: 'add', input: { by: 2 } },
  { tool: 'fail', input: {}, also: [{ tool: 'add', input: { by: 1 } }] },
  { tool: 'answer', input: 'three' },
];
open(counter, counts);

const purchases: readonly ActionOf<ReturnType<typeof shop>['environment']>[] = [
  { tool: 'price', input: { item: 'tea' } },
  { tool: 'order', input: { item: 'tea' } },
  { tool: 'order', input: { item: 'a golden pot' } },
  { tool: 'mail', input: { to: 'ann' } },
  { tool: 'answer', input: { bought: ['tea'] } },
];
open(() => shop().environment, purchases);

const writes: readonly ActionOf<ReturnType<typeof files>['environment']>[] = [
  { tool: 'write', input: { path: 'a', text: '1' } },
  { tool: 'write', input: { path: 'b', text: '2' } },
  { tool: 'write', input: { path: 'b', text: 'bad' } },
  { tool: 'read', input: { path: 'a' } },
];
open(() => files().environment, writes);

const looks: readonly ActionOf<ReturnType<typeof lookUp>>[] = [
  { tool: 'temperature', input: { city: 'Oslo' } },
  { tool: 'temperature', input: { city: 'Lima' } },
  { tool: 'answer', input: 'Lima' },
];
open(lookUp, looks);
