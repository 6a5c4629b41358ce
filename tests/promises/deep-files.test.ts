import { expect, test } from 'vitest';
import { readers } from '../../src/data/index.ts';

const depth = 100_000;

/** A chain of nodes as text: `JSON.stringify` would not go so deep either. */
function chain(node: (level: number) => string): string {
  const nodes = Array.from({ length: depth }, (_, level) => `${node(level)},"children":[`);
  return `${nodes.join('')}${']}'.repeat(depth)}`;
}

function toolBench(tree: string): string {
  return `{"win":false,"tree":{"tree":${tree}},"answer_generation":{"query":"Why?"}}`;
}

test('a ToolBench tree of 100,000 thoughts is read', () => {
  const tree = chain(() => '{"node_type":"Thought","description":"hm"');
  const read = readers.readToolBench(toolBench(tree), { problem: 'deep' });
  expect(read.tree.size).toBe(2);
});

test('a ToolBench tree of 100,000 nodes of calls is read', () => {
  const types = ['Action Input', 'Thought', 'Action'];
  const tree = chain((level) => `{"node_type":"${types[level % 3]}","description":"{}"`);
  const { tree: read } = readers.readToolBench(toolBench(tree), { problem: 'deep' });
  expect(read.size).toBe(33_334);
  const last = read.node(read.size - 1);
  expect((last.state as { readonly steps: readonly unknown[] }).steps).toHaveLength(33_333);
});

test('what is wrong far down in a ToolBench tree is named', () => {
  const tree = chain((level) => `{"node_type":"Thought","description":${level < 9 ? '"hm"' : 5}`);
  expect(() => readers.readToolBench(toolBench(tree), { problem: 'deep' })).toThrow(
    /^The ToolBench file deep cannot be read: field `tree\.tree(\.children\.0){9}\.description`: .*expected string/,
  );
});

test('an OmegaPRM tree of 100,000 steps is read', () => {
  const tree = chain(() => '{"text":"so","mc_value":0.5');
  const [read] = readers.readOmegaPrm(`{"question":"Why?","reasoning_steps":${tree}}\n`);
  expect(read?.tree.size).toBe(depth);
});
