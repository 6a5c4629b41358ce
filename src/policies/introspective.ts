import { expectOptions } from '../base/expect-options.ts';
import type { Parsed } from '../contracts/environment.ts';
import type { Completion, Message } from '../contracts/language-model.ts';
import type { Policy, Proposal } from '../contracts/policy.ts';
import { withInstruction } from '../prompting/prompt-parts.ts';
import { fill, type PromptSet, promptsOf, type Texts, withTexts } from '../prompting/prompts.ts';
import { asking, expectSampling } from './from-model/asking.ts';
import { repairProvenance } from './from-model/prompts.ts';
import { type Dialogue, proposeSamples, type SampleRange } from './from-model/samples.ts';
import type { SamplingOptions } from './from-model/settings.ts';
import { type Outcome, outcomeOf, proposalsOfEach } from './outcomes.ts';
import { type SiblingsOptions, type SiblingsTeller, siblingsTeller } from './siblings.ts';

const usual = {
  name: 'introspective',
  version: 1,
  texts: {
    request: [
      'Think about the solution so far and about why the continuations above came out as they did: what worked,',
      'what failed, what nobody has tried. Then give one continuation that goes another way than every one of',
      'them, not the same in other words. Give it in the form asked for above, and nothing else.',
    ].join('\n'),
    known: 'Expected an action other than those that are known, got `{action}` again.',
  },
} satisfies PromptSet;

/**
 * A policy that reviews a node's children before it adds one: it proposes one action at a time, and each time shows the
 * model the solution so far (the prompt of the state), the actions, outcomes and scores of the existing children, and
 * the latest proposals. A proposal must differ from all of them. A duplicate is sent back, and is a failure if
 * repeated. Actions are compared as text, ignoring white space.
 *
 * Without children, the prompt is that of the state. `count` actions take at least `count` calls, in sequence. If
 * independent samples are wanted, no children are shown and duplicates are accepted.
 *
 * The code of I-MCTS shows only the texts of siblings; this policy also shows their outcomes, as the paper describes.
 *
 * @see Liang et al., "I-MCTS: Enhancing Agentic AutoML via Introspective Monte Carlo Tree Search", 2025, the
 * introspective expansion: 5 children a node.
 */
export function introspective<State = any, Action = any>(
  options: SamplingOptions<State, Action> &
    Pick<SiblingsOptions<State, Action>, 'see' | 'most' | 'characters'> & {
      /**
       * Texts to replace: `request` follows the known actions; `known`, with the slot `{action}`, rejects a known
       * action.
       */
      readonly prompts?: Texts<'known' | 'request'>;
      /** Replacement texts about siblings. @defaultValue those of `siblings` */
      readonly siblingsPrompts?: NonNullable<SiblingsOptions<State, Action>['prompts']>;
    },
): Policy<State, Action> {
  expectOptions(
    'introspective',
    options,
    'samples repairs prompts siblingsPrompts model temperature topP maxTokens stop seed promptParts see most characters',
  );
  const { samples = 5, repairs = 1, siblingsPrompts } = options;
  expectSampling(options);
  const set = withTexts(usual, options.prompts);
  const { prompts: _, ...shown } = options;
  const tellerFor = siblingsTeller<State, Action>({
    ...shown,
    ...(siblingsPrompts !== undefined && { prompts: siblingsPrompts }),
  });
  const provenance = [
    repairProvenance(repairs),
    { prompts: tellerFor.prompts },
    { prompts: promptsOf(set) },
  ];
  const settings = { name: 'introspective', options: { ...options, samples, repairs }, provenance };
  return asking<State, Action>(settings, async ({ node, request, notation, range, ...asked }) => {
    const { independent = false } = request;
    const teller = tellerFor(notation);
    const keyOf = (action: Action) => notation.format(action).replace(/\s+/g, ' ').trim();
    // Written down before the first await, because nodes are live.
    const told = [...teller.childrenOf(node)];
    const known = new Set(independent ? [] : node.children.map(({ action }) => keyOf(action)));
    const prompt = await asked.prompt();
    const study = { texts: set.texts, teller, prompt, told, known, keyOf, range };
    const ask = (messages: readonly Message[]): Dialogue<Action> => {
      const dialogue = asked.dialogue(messages);
      const read = (completion: Completion) => fresh(dialogue.read(completion), study, completion);
      return { ...dialogue, read };
    };
    return independent ? proposeSamples(ask(prompt), range) : proposeInTurn(ask, study);
  });
}

/** The action if it is new, or a failure. */
function fresh<State, Action>(
  parsed: Parsed<Action>,
  { texts, known, keyOf }: Study<State, Action>,
  { text }: Completion,
): Parsed<Action> {
  if ('failure' in parsed || !known.has(keyOf(parsed.action))) return parsed;
  const short = text.trim().slice(0, 80);
  const message = fill(texts.known, { action: short });
  return { failure: { kind: 'invalid', message } };
}

/** Proposes actions one after another, each shown the ones before it. */
async function proposeInTurn<State, Action>(
  ask: (messages: readonly Message[]) => Dialogue<Action>,
  { texts, teller, prompt, told, known, keyOf, range: { offset, count } }: Study<State, Action>,
): Promise<readonly Proposal<Action>[]> {
  const outcomes: Outcome<Action>[] = [];
  for (let place = 0; place < count; place++) {
    const text = teller.text(told);
    const dialogue = ask(
      text === undefined
        ? prompt
        : withInstruction(prompt, `${text}\n\n${fill(texts.request, {})}`),
    );
    const propose = () => proposeSamples(dialogue, { offset: offset + place, count: 1 });
    const outcome = await outcomeOf({ count: 1, ask: propose }, dialogue.context);
    outcomes.push(outcome);
    for (const proposal of outcome.proposals) {
      if ('failure' in proposal) continue;
      known.add(keyOf(proposal.action));
      told.push(teller.proposed(proposal.action));
    }
  }
  return proposalsOfEach(outcomes).flat();
}

/** The existing actions of a node, and the request. */
interface Study<State, Action> {
  readonly texts: typeof usual.texts;
  readonly teller: SiblingsTeller<State, Action>;
  readonly prompt: readonly Message[];
  /** Siblings as text. */
  readonly told: string[];
  /** Siblings by their keys. */
  readonly known: Set<string>;
  readonly keyOf: (action: Action) => string;
  readonly range: SampleRange;
}
