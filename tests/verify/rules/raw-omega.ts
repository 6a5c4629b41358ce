/** OmegaPRM files as plain objects. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mean } from './loops.ts';
import { blank, levels, type Raw, type RawTree, settle, type Turn, wayTo } from './raw.ts';

interface OmegaNode {
  readonly text: string;
  readonly mc_value: number;
  readonly children: readonly OmegaNode[];
}

/** OmegaPRM: nested prefixes with their Monte-Carlo values. */
export function omegaTrees(data: string): readonly RawTree[] {
  const lines = readFileSync(join(data, 'omegaprm-trees-2.jsonl'), 'utf8').trim().split('\n');
  return lines.map((text, place) => {
    const { question, final_answer, reasoning_steps } = JSON.parse(text);
    const root = make(['user', question, []], reasoning_steps, undefined);
    const nodes = levels(root);
    settle(nodes, () => true);
    pool(nodes);
    const answer = String(final_answer);
    const name = `omegaprm ${place + 1}`;
    return { name, text, root, nodes, answer, parted: '\n\n', isWhole: false, question };
  });
}

function make(asked: Turn, from: OmegaNode, parent: Raw | undefined): Raw {
  const before = parent === undefined ? [] : wayTo(parent);
  const steps = parent === undefined ? [] : [...before.map(({ text }) => text), from.text];
  const said = steps.map((step) => `${step}\n\n`).join('');
  const text = parent === undefined ? '' : from.text;
  const context: readonly Turn[] = steps.length === 0 ? [asked] : [asked, ['assistant', said, []]];
  const words = { text, turn: ['assistant', text, []] as const, context, shown: text, parent };
  const node = {
    ...blank(words, rightAt(from)),
    estimate: from.mc_value,
    q: from.mc_value,
  };
  for (const child of from.children) node.children.push(make(asked, child, node));
  return node;
}

/** One prefix has one value: of equal ones the mean, a leaf a vote. */
function pool(nodes: readonly Raw[]): void {
  const leavesOf = (node: Raw): number =>
    node.children.length === 0 ? 1 : node.children.reduce((sum, one) => sum + leavesOf(one), 0);
  const votes = new Map<string, Raw[]>();
  for (const node of nodes) {
    const key = JSON.stringify(node.context.map(([role, said]) => [role, said.trim()]));
    const equal = votes.get(key) ?? [];
    votes.set(key, [...equal, ...Array<Raw>(leavesOf(node)).fill(node)]);
  }
  const means = [...votes.values()].map((equal) => {
    const values = equal.map(({ estimate }) => estimate as number);
    const isOne = values.every((value) => value === values[0]);
    return [equal, isOne ? (values[0] as number) : mean(values)] as const;
  });
  for (const [equal, value] of means) for (const node of equal) node.estimate = value;
  for (const node of nodes) node.q = node.estimate as number;
}

/** A whole right rollout, or a stated answer; all others are prefixes. */
function rightAt({ text, mc_value: value, children }: OmegaNode): boolean | undefined {
  const isAnswer = /\\boxed\s*\{|####|\bthe answer is\b/i.test(text);
  return children.length === 0 && (value === 1 || isAnswer) ? value === 1 : undefined;
}
