import { expectation, expectInteger } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Parsed } from '../contracts/environment.ts';
import type { Completion } from '../contracts/language-model.ts';
import type { Policy } from '../contracts/policy.ts';
import { withInstruction } from '../prompting/prompt-parts.ts';
import { fill, promptsOf, type Texts, withTexts } from '../prompting/prompts.ts';
import { asking, expectSampling } from './from-model/asking.ts';
import { repairProvenance } from './from-model/prompts.ts';
import { proposeSamples } from './from-model/samples.ts';
import type { SamplingOptions } from './from-model/settings.ts';
import { type ActionKind, actionKinds, multiActionPrompts } from './multi-action-prompts.ts';
import { inPlaces, proposalsOfAll } from './outcomes.ts';
import { withWholeSteps } from './whole-steps.ts';

/** Options of {@link multiAction}. */
export interface MultiActionOptions<State = any>
  extends Omit<SamplingOptions<State, string>, 'samples'> {
  /** The sampling temperature: a number from 0 up. @defaultValue 0.8 */
  readonly temperature?: number;
  /**
   * The maximum tokens of one action, including a whole solution: an integer from 1 up.
   *
   * @defaultValue 512
   */
  readonly maxTokens?: number;
  /** Samples per kind and node: integers from 0 up. @defaultValue 3, 1, 3, 1 and 1, from A1 to A5 */
  readonly counts?: Partial<Readonly<Record<ActionKind, number>>>;
  /**
   * The kinds that may follow each kind, and those allowed at the root.
   *
   * @defaultValue those of the paper: at the root A1, A2, A3 and A5; behind A1 A1 and A2; behind A2 none; behind
   * A3 A1 to A4; behind A4 and A5 A1 to A3
   */
  readonly allowed?: Partial<Readonly<Record<ActionKind | 'root', readonly ActionKind[]>>>;
  /** Texts to replace: the request for each kind, after the prompt of the state, and the label it starts with. */
  readonly prompts?: Texts<ActionKind | `${ActionKind}Label`>;
}

/** Which kinds may follow which, as in the paper. */
const usualRules: Readonly<Record<ActionKind | 'root', readonly ActionKind[]>> = {
  root: ['thought', 'finish', 'subQuestion', 'rephrase'],
  thought: ['thought', 'finish'],
  finish: [],
  subQuestion: ['thought', 'finish', 'subQuestion', 'answerAgain'],
  answerAgain: ['thought', 'finish', 'subQuestion'],
  rephrase: ['thought', 'finish', 'subQuestion'],
};

const usualCounts: Readonly<Record<ActionKind, number>> = {
  thought: 3,
  finish: 1,
  subQuestion: 3,
  answerAgain: 1,
  rephrase: 1,
};

/**
 * A policy with the five kinds of actions of rStar: one thought (A1), the remaining solution (A2), the next
 * sub-question with its answer (A3), a second answer to the last sub-question (A4) and the problem rephrased (A5). The
 * kinds allowed depend on the kind of the last action.
 *
 * An action starts with a label of its kind, such as `Sub-question:`, added by this policy: so it is saved with the
 * tree, and later prompts show it. An action without a label, from another policy, counts as a thought. It is made for
 * the notations of `reasoning`, in which A4 and A5 add a step, and what they restate is kept. Nothing follows A2: a
 * solution without an answer ends its branch.
 *
 * Asked for all actions, it draws the full count of each allowed kind; each sample is one call, and those of one kind
 * are one request. Asked for fewer, it takes one of each kind in turn, cyclically.
 *
 * @see Qi et al., "Mutual Reasoning Makes Smaller LLMs Stronger Problem-Solvers", 2024.
 */
export function multiAction<State = any>(
  options: MultiActionOptions<State>,
): Policy<State, string> {
  expectOptions(
    'multiAction',
    options,
    'temperature maxTokens counts allowed repairs prompts model topP stop seed promptParts',
  );
  const { repairs = 0, temperature = 0.8, maxTokens = 512 } = options;
  expectSampling(options);
  const set = withTexts(multiActionPrompts, options.prompts);
  expectLabels(set.texts);
  expectOptions('counts', options.counts ?? {}, actionKinds.join(' '));
  const counts = { ...usualCounts, ...options.counts };
  for (const kind of actionKinds) expectInteger(`counts.${kind}`, counts[kind], { min: 0 });
  const rules = { ...usualRules, ...options.allowed };
  expectRules(rules);
  const settings = {
    name: 'multiAction',
    options: { ...options, temperature, maxTokens },
    provenance: [repairProvenance(repairs), { prompts: promptsOf(set) }],
  };
  return asking<State, string>(settings, async ({ node, request, notation, ...asked }) => {
    const { context, count, offset } = request;
    // A solution may have several paragraphs.
    const whole = withWholeSteps(notation, () => true);
    const last = node.kind === 'root' ? 'root' : actionKind(node.action, options.prompts);
    const cycle = inTurn(rules[last], counts);
    const range = { offset, count: Number.isFinite(count) ? count : cycle.length };
    const groups = groupsOf(cycle, range);
    const prompt = await asked.prompt();
    const ask = ({ kind, first, places }: Group) => {
      const label = set.texts[`${kind}Label`];
      const messages = withInstruction(prompt, fill(set.texts[kind], {}));
      const dialogue = asked.dialogue(messages, kind === 'finish' ? whole : notation);
      const read = (completion: Completion): Parsed<string> => {
        const parsed = dialogue.read(completion);
        return 'failure' in parsed ? parsed : { action: labelled(parsed.action, label) };
      };
      return proposeSamples({ ...dialogue, read }, { offset: first, count: places.length });
    };
    const tasks = groups.map((group) => ({ count: group.places.length, ask: () => ask(group) }));
    const lists = await proposalsOfAll(tasks, context);
    return inPlaces(
      lists,
      groups.map(({ places }) => places),
    );
  });
}

/**
 * The kind of an action of {@link multiAction}, from the label at its beginning; `thought` without one.
 *
 * @param prompts - The replacement texts given to the policy.
 */
export function actionKind(
  action: string,
  prompts: MultiActionOptions['prompts'] = {},
): ActionKind {
  const { texts } = withTexts(multiActionPrompts, prompts);
  return actionKinds.find((kind) => action.startsWith(texts[`${kind}Label`])) ?? 'thought';
}

function labelled(action: string, label: string): string {
  const isThere = action.toLowerCase().startsWith(label.toLowerCase());
  return `${label} ${isThere ? action.slice(label.length).trim() : action}`;
}

/** Takes one of each kind in turn, until the count of each is reached. */
function inTurn(
  kinds: readonly ActionKind[],
  counts: Readonly<Record<ActionKind, number>>,
): readonly ActionKind[] {
  const rounds = Math.max(0, ...kinds.map((kind) => counts[kind]));
  return Array.from({ length: rounds }, (_, round) =>
    kinds.filter((kind) => counts[kind] > round),
  ).flat();
}

/** The samples of one kind. */
interface Group {
  readonly kind: ActionKind;
  /** The index of the first sample among all samples of this kind. */
  readonly first: number;
  /** Their positions among the requested samples. */
  readonly places: readonly number[];
}

/** Groups the samples of a range by kind, ordered by the first appearance of each kind. */
function groupsOf(
  cycle: readonly ActionKind[],
  { offset, count }: { readonly offset: number; readonly count: number },
): readonly Group[] {
  if (cycle.length === 0) return [];
  const places = Array.from({ length: count }, (_, place) => place);
  const kindAt = (index: number) => cycle[index % cycle.length];
  return [...new Set(places.map((place) => kindAt(offset + place)))].flatMap((kind) => {
    if (kind === undefined) return [];
    const own = places.filter((place) => kindAt(offset + place) === kind);
    const start = offset + (own[0] ?? 0);
    const perCycle = cycle.filter((other) => other === kind).length;
    const inCycle = cycle.slice(0, start % cycle.length).filter((other) => other === kind).length;
    const first = Math.floor(start / cycle.length) * perCycle + inCycle;
    return [{ kind, first, places: own }];
  });
}

function expectRules(rules: Readonly<Record<string, readonly ActionKind[]>>): void {
  for (const [before, kinds] of Object.entries(rules)) {
    if (!Object.hasOwn(usualRules, before)) {
      throw expectation('allowed', `kinds among root, ${actionKinds.join(', ')}`, before);
    }
    const odd = kinds.find((kind) => !actionKinds.includes(kind));
    if (odd !== undefined) {
      throw expectation(`allowed.${before}`, `kinds among ${actionKinds.join(', ')}`, odd);
    }
  }
}

/** Labels identify kinds, so none may be empty or be the beginning of another. */
function expectLabels(texts: typeof multiActionPrompts.texts): void {
  const labels = actionKinds.map((kind) => texts[`${kind}Label`]);
  for (const [place, label] of labels.entries()) {
    const isClear = labels.every((other, index) => index === place || !other.startsWith(label));
    if (label.trim() === '' || !isClear) {
      const name = `prompts.${actionKinds[place]}Label`;
      throw expectation(name, 'a label that no other one begins with', label);
    }
  }
}
