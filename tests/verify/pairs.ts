/**
 * `node --import tsx tests/verify/pairs.ts [<folder>]`: pairs from published trees, against an enumeration
 * over the JSON of the files that uses none of our code.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as pairRules from '../../src/data/pairs/pair-rules.ts';
import * as pairScores from '../../src/data/pairs/pair-scores.ts';
import { type PairRowRule, preferences } from '../../src/data/pairs/preferences.ts';
import { readOmegaPrm } from '../../src/data/readers/omega-prm.ts';
import { readToolBench } from '../../src/data/readers/tool-bench.ts';
import type { PreferenceRow } from '../../src/data/rows.ts';

const data = process.argv[2] ?? join(import.meta.dirname, '../../../shared/data');

interface OmegaNode {
  readonly text: string;
  readonly mc_value: number;
  readonly children: readonly OmegaNode[];
}

/** A step as the file has it, and how it came out. */
interface Raw {
  readonly text: string;
  readonly score: number;
  readonly right: boolean;
  readonly wrong: boolean;
}

type Matcher = (one: Raw, other: Raw, all: readonly Raw[]) => boolean;

const isMarked = /\\boxed\s*\{|####|\bthe answer is\b/i;

/** Whether right and wrong ends stand at or below a node. */
function outcomes(node: OmegaNode): { readonly right: boolean; readonly wrong: boolean } {
  if (node.children.length === 0) {
    const isEnd = node.mc_value === 1 || isMarked.test(node.text);
    return { right: isEnd && node.mc_value === 1, wrong: isEnd && node.mc_value < 1 };
  }
  const below = node.children.map(outcomes);
  return { right: below.some(({ right }) => right), wrong: below.some(({ wrong }) => wrong) };
}

/** The children of a node, those of equal text as one. */
function siblingsAt(node: OmegaNode): readonly Raw[] {
  const texts = [...new Set(node.children.map(({ text }) => text.trim()))];
  return texts.map((text) => {
    const same = node.children.filter((child) => child.text.trim() === text);
    const ends = same.map(outcomes);
    return {
      text,
      score: same[0]?.mc_value ?? Number.NaN,
      right: ends.some(({ right }) => right),
      wrong: ends.some(({ wrong }) => wrong),
    };
  });
}

function enumerateOmega(
  question: string,
  root: OmegaNode,
  {
    isMatched,
    below = () => true,
  }: { readonly isMatched: Matcher; readonly below?: ((node: OmegaNode) => boolean) | undefined },
): readonly string[] {
  const found = new Set<string>();
  const visit = (node: OmegaNode, steps: readonly string[]) => {
    const siblings = below(node) ? siblingsAt(node) : [];
    const matched = siblings.flatMap((one) =>
      siblings.filter((other) => isMatched(one, other, siblings)).map((other) => [one, other]),
    );
    for (const [one, other] of matched) {
      found.add(JSON.stringify([question, steps.join('\n\n').trim(), one?.text, other?.text]));
    }
    for (const child of node.children) visit(child, [...steps, child.text]);
  };
  visit(root, []);
  return [...found];
}

const ordered: Matcher = (one, other) => one.score > other.score;

/** Each rule of ours beside what says the same of the JSON. */
const omegaRules: readonly (readonly [PairRowRule, Matcher, ((node: OmegaNode) => boolean)?])[] = [
  [byQ('all-ordered'), ordered],
  [
    byQ('best-vs-worst'),
    (one, other, all) =>
      one.score > other.score &&
      one === all.find(({ score }) => score === Math.max(...all.map((raw) => raw.score))) &&
      other === all.findLast(({ score }) => score === Math.min(...all.map((raw) => raw.score))),
  ],
  [byQ('all-above-below'), (one, other) => one.score > 0.5 && other.score < 0.5],
  [
    preferences({
      ...byQ('all-ordered').pairs,
      name: 'filtered',
      minMargin: 0.25,
      minEditDistance: 200,
    }),
    (one, other) => one.score - other.score > 0.25 && edits(one.text, other.text) >= 200,
  ],
  [
    pairRules.stepDpo(),
    (one, other) => one.right && !other.right && other.wrong,
    (node) => outcomes(node).right,
  ],
  [
    pairRules.toolPreference(),
    (one, other) => one.right && !other.right,
    (node) => outcomes(node).right,
  ],
];

function byQ(siblings: 'all-above-below' | 'all-ordered' | 'best-vs-worst'): PairRowRule {
  return preferences({ name: siblings, nodes: 'all', siblings, score: pairScores.q });
}

function omega(): void {
  const text = readFileSync(join(data, 'omegaprm-trees-2.jsonl'), 'utf8');
  const records = readOmegaPrm(text);
  const lines = text.trim().split('\n');
  for (const [rule, isMatched, below] of omegaRules) {
    const expected = lines.flatMap((line) => {
      const { question, reasoning_steps: root } = JSON.parse(line) as {
        readonly question: string;
        readonly reasoning_steps: OmegaNode;
      };
      return enumerateOmega(question, root, { isMatched, below });
    });
    const rows = records.flatMap((record) => [...rule.rows([record])]);
    const found = rows.map((row) => {
      const [asked, ...begun] = row.prompt;
      const steps = begun
        .map(({ content }) => content)
        .join('')
        .trim();
      return JSON.stringify([asked?.content, steps, sideOf(row.chosen), sideOf(row.rejected)]);
    });
    compare(`omegaprm, ${rule.name}`, found, expected);
  }
}

function sideOf(messages: PreferenceRow['chosen']): string | undefined {
  return messages[0]?.content.trim();
}

interface DfsNode {
  readonly node_type: 'Action' | 'Action Input' | 'Thought';
  readonly description: string;
  readonly observation_code?: number;
  readonly children: readonly DfsNode[];
}

interface DfsStep {
  readonly text: string;
  readonly end: DfsNode;
}

/** The steps below a node: thoughts and a call with its arguments are one. */
function stepsBelow(node: DfsNode, begun: readonly string[] = []): readonly DfsStep[] {
  return node.children.flatMap((child): readonly DfsStep[] => {
    const isCall = child.node_type === 'Action Input';
    const own = [...begun, isCall ? sortedJson(child.description) : child.description];
    const isThoughtAlone = child.node_type === 'Thought' && child.children.length === 0;
    if (isCall || isThoughtAlone) return [{ text: own.join('\n\n'), end: child }];
    return stepsBelow(child, own);
  });
}

function sortedJson(text: string): string {
  try {
    const value = JSON.parse(text) as unknown;
    return JSON.stringify(value, (_key, part: unknown) =>
      typeof part === 'object' && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
    );
  } catch {
    return JSON.stringify(text);
  }
}

function succeeds(node: DfsNode): boolean {
  return node.observation_code === 3 || node.children.some(succeeds);
}

function enumerateToolBench(root: DfsNode): readonly string[] {
  const found = new Set<string>();
  const visit = (node: DfsNode, path: readonly string[]) => {
    const steps = stepsBelow(node);
    const good = new Set(steps.filter(({ end }) => succeeds(end)).map(({ text }) => text));
    for (const { text } of steps) {
      if (good.has(text)) continue;
      for (const right of good) found.add(JSON.stringify([path, right, text]));
    }
    for (const { text, end } of steps) visit(end, [...path, text]);
  };
  visit(root, []);
  return [...found];
}

function toolBench(): void {
  const folder = join(data, 'toolbench');
  for (const file of readdirSync(folder).sort()) {
    const text = readFileSync(join(folder, file), 'utf8');
    const raw = JSON.parse(text) as {
      readonly win: boolean;
      readonly tree: { readonly tree: DfsNode };
    };
    const record = readToolBench(text, { problem: file });
    const rows = [...pairRules.toolPreference().rows([record])];
    const found = rows.map(({ prompt, chosen, rejected }) =>
      JSON.stringify([
        prompt.filter(({ role }) => role === 'assistant').map(toolStep),
        ...[...chosen, ...rejected].map(toolStep),
      ]),
    );
    compare(`toolbench, ${file}`, found, raw.win ? enumerateToolBench(raw.tree.tree) : []);
    for (const { provenance } of rows) assert.equal(provenance.problem, file);
  }
}

function toolStep({ content, toolCalls = [] }: PreferenceRow['chosen'][number]): string {
  const calls = toolCalls.flatMap(({ name, input }) => [name, JSON.stringify(input)]);
  return [...(content === '' ? [] : [content]), ...calls].join('\n\n');
}

/** The Levenshtein distance by its definition. */
function edits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}

let differences = 0;

function compare(what: string, found: readonly string[], expected: readonly string[]): void {
  const missing = expected.filter((key) => !found.includes(key));
  const spare = found.filter((key) => !expected.includes(key));
  const isRepeated = new Set(found).size !== found.length;
  const isSame = missing.length === 0 && spare.length === 0 && !isRepeated;
  if (!isSame) differences += 1;
  process.stdout.write(
    `${what}: ${found.length} pairs, ${expected.length} enumerated${isSame ? '' : `; ${missing.length} missing, ${spare.length} not expected${isRepeated ? ', some twice' : ''}`}\n`,
  );
  for (const key of [...missing.slice(0, 1), ...spare.slice(0, 1)]) {
    process.stdout.write(`  ${key.slice(0, 1_000)}\n`);
  }
}

omega();
toolBench();
process.exitCode = differences === 0 ? 0 : 1;
