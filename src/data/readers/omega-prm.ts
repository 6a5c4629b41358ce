import { z } from 'zod';
import { contentAddress } from '../../base/canonical-json.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { BackupRule } from '../../tree/backup.ts';
import { SearchTree } from '../../tree/tree.ts';
import {
  isStart,
  nestedNodes,
  readDocument,
  readLines,
  stateAfter,
  type Trail,
  unreadable,
} from '../read-document.ts';
import type { RowNotation, TreeRecord } from '../record.ts';
import { evaluateSteps, mergeTwins } from './twins.ts';

/** A prefix of a solution. */
export interface OmegaPrmState {
  /** The problem. */
  readonly question: string;
  /** The steps so far. */
  readonly steps: readonly string[];
}

interface OmegaNode {
  readonly text: string;
  readonly mc_value?: number | null | undefined;
  readonly children: readonly OmegaNode[];
}

const nodeSchema: z.ZodType<OmegaNode> = nestedNodes(
  z.object({
    text: z.string(),
    mc_value: z.number().min(0).max(1).nullish(),
    children: z.array(z.unknown()).default([]),
  }),
);

const lineSchema = z.object({
  question: z.string().min(1),
  final_answer: z.union([z.string(), z.number()]).nullish(),
  question_id: z.union([z.string(), z.number()]).nullish(),
  reasoning_steps: nodeSchema,
});

function notationWith(delimiter: string): RowNotation<OmegaPrmState, string> {
  return {
    delimiter,
    format: (text) => text,
    prompt: (state): readonly Message[] => {
      const asked: Message = { role: 'user', content: state.question };
      if (isStart(state)) return [asked];
      let content: string | undefined;
      const begun: Message = {
        role: 'assistant',
        // Written when it is read: labelled steps ask every node of a path for its prompt, and need none.
        get content() {
          // The separator belongs to the prompt: a completion never starts with white space.
          content ??= state.steps.map((step) => `${step}${delimiter}`).join('');
          return content;
        },
      };
      return [asked, begun];
    },
  };
}

/**
 * Reads the trees of an OmegaPRM file, one per line, as OpenR writes them: `question`, `final_answer` and nested
 * `reasoning_steps` of `text`, `mc_value` and `children`.
 *
 * - A node is a prefix of a solution; its action is the text of the step.
 * - v(s) and Q(s, a) are `mc_value`, the share of right rollouts; of a prefix that is listed more than once, the mean of
 *   its values, each weighed by the leaves at and below it. N counts the leaves at and below a node, equal ones
 *   included: the rollouts and prefixes that the file lists.
 * - A step without successors is an end if its value is 1, which only complete successful rollouts have, or if it
 *   states an answer (`\boxed{`, `####` or `the answer is`); its reward is 1 or 0. Any other one is an abandoned
 *   prefix.
 * - Equal siblings are merged.
 *
 * The file lists only successful rollouts, so step labels use the values, not shares of ends.
 *
 * Values were estimated with the answer: the trees are stamped `oracle-guided`. Equal questions are one problem.
 *
 * @param text - JSON lines.
 * @throws EspalierError `usage`, naming the line and the field, for anything else.
 * @see Luo et al., "Improve Mathematical Reasoning in Language Models by Automated Process Supervision", 2024,
 * section 3.
 */
export function readOmegaPrm(
  text: string,
  options: {
    /**
     * The text between steps, which the file does not specify. Steps contain empty lines themselves: for trainers that
     * allow the separator in no step, choose one that does not occur in them.
     *
     * @defaultValue an empty line
     */
    readonly delimiter?: string;
  } = {},
): readonly TreeRecord<OmegaPrmState, string>[] {
  expectOptions('readOmegaPrm', options, 'delimiter');
  const notation = notationWith(options.delimiter ?? '\n\n');
  return readLines('OmegaPRM file', text, (own, place) => {
    const { question, final_answer, reasoning_steps } = readDocument(own, lineSchema, place);
    const problem = `omegaprm-${contentAddress(question).slice(0, 16)}`;
    if (reasoning_steps.children.length === 0) {
      throw unreadable(place, ['reasoning_steps', 'children'], 'expected at least one step');
    }
    return {
      problem,
      id: `${problem}-${place.line}`,
      tree: grow(question, reasoning_steps, notation),
      notation,
      ...(final_answer !== undefined && final_answer !== null && { answer: String(final_answer) }),
      // Rollouts that went wrong are counted in the values, and not listed.
      ends: 'right',
      method: 'omegaprm',
    };
  });
}

type OmegaTree = SearchTree<OmegaPrmState, string>;
type OmegaNotation = RowNotation<OmegaPrmState, string>;
type Grown = SearchNode<OmegaPrmState, string>;

function grow(question: string, root: OmegaNode, notation: OmegaNotation): OmegaTree {
  const tree: OmegaTree = new SearchTree(
    { question, steps: [] },
    { environment: 'omegaprm', seed: 'unknown' },
  );
  tree.stamps.add('oracle-guided');
  // Parents first, and no recursion: a solution may be long.
  const open: Open[] = [{ at: tree.root, from: root, steps: undefined }];
  for (const { at, from, steps: before } of open) {
    const prior = 1 / from.children.length;
    const proposed = from.children.map(({ text: action }) => ({ action, prior }));
    const added = tree.add(at, proposed);
    for (const [place, node] of added.entries()) {
      const child = from.children[place];
      if (child === undefined) continue;
      const steps = { before, last: child.text };
      const terminal = isEnd(child);
      const reward = terminal ? (child.mc_value ?? undefined) : undefined;
      tree.realise(node, {
        state: stateAfter({ question }, steps),
        terminal,
        ...(reward !== undefined && { reward }),
      });
      open.push({ at: node, from: child, steps });
    }
  }
  const valued = open.map(({ at: node, from }) => ({ node, value: from.mc_value ?? undefined }));
  evaluateSteps({ tree, notation }, valued);
  for (const { at } of open) {
    mergeTwins(
      tree,
      at.children.map((node) => [node.action, node]),
    );
  }
  for (const { at, from } of open) if (from.children.length === 0) count(tree, at);
  return tree;
}

interface Open {
  readonly at: Grown;
  readonly from: OmegaNode;
  readonly steps: Trail<string> | undefined;
}

/** Counts a leaf all the way up. One that says what an earlier one says is a further visit to that one. */
function count(tree: OmegaTree, leaf: Grown): void {
  const node = tree.original(leaf);
  if (node.rawValue !== undefined) {
    tree.backup(node, { rule: estimated, outcome: node.rawValue });
  }
}

/** Estimated values are kept; the mean is for nodes without a value in the file. */
const estimated: BackupRule = ({ rawValue, value, visits }, { target }) =>
  rawValue ?? value + (target - value) / visits;

/** One that no rollout went right from ends the solution only where it states an answer. */
function isEnd({ text, mc_value: value, children }: OmegaNode): boolean {
  const statesAnswer = /\\boxed\s*\{|####|\bthe answer is\b/i.test(text);
  return children.length === 0 && (value === 1 || statesAnswer);
}
