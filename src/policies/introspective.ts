import { expectInteger, expectMethods } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { provenanceOf, provenanceOfModel } from '../base/provenance.ts';
import type { Parsed } from '../contracts/environment.ts';
import type { Completion, Message } from '../contracts/language-model.ts';
import type { Policy, Proposal } from '../contracts/policy.ts';
import { notationOf } from '../prompting/notation.ts';
import { withInstruction, withParts } from '../prompting/prompt-parts.ts';
import { fill, type PromptSet, promptsOf, withTexts } from '../prompting/prompts.ts';
import { repairProvenance } from './from-model/prompts.ts';
import { type Dialogue, proposeSamples } from './from-model/samples.ts';
import { readerOf, type SamplingOptions, settingsFor, settingsOf } from './from-model/settings.ts';
import { type Outcome, outcomeOf, proposalsOfEach } from './outcomes.ts';
import { type SiblingsOptions, type SiblingsTeller, siblingsTeller } from './siblings.ts';
import { stateOf } from './state-of.ts';

/** The texts of {@link introspective}, and what their slots stand for. */
export interface IntrospectiveTexts {
  /** What is asked for, behind what is known. */
  readonly request: string;
  /** What is wrong with an action that is known: the `{action}`. It is sent back with these words. */
  readonly known: string;
}

const usual: PromptSet<keyof IntrospectiveTexts> = {
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
};

/** How a language model is asked for one action after the other. */
export interface IntrospectiveOptions<State = any, Action = any>
  extends SamplingOptions<State, Action>,
    Pick<SiblingsOptions<State, Action>, 'see' | 'most' | 'characters'> {
  /**
   * How many actions are proposed where an algorithm asks for all of them: an integer from 1 up.
   *
   * @defaultValue 5
   */
  readonly samples?: number;
  /**
   * How often an answer that is known already, or cannot be read, is sent back with the reason: an integer
   * from 0 up. Each time costs a call.
   *
   * @defaultValue 1
   */
  readonly repairs?: number;
  /** Other texts. @defaultValue the ones that come with it */
  readonly prompts?: Partial<IntrospectiveTexts>;
  /** Other texts for what is told of siblings. @defaultValue those of `siblings` */
  readonly siblingsPrompts?: NonNullable<SiblingsOptions<State, Action>['prompts']>;
}

/**
 * A policy that studies what is there before it adds to it: it proposes one action after the other, and each
 * time shows the model the solution so far (the prompt of the state), the actions, outcomes and scores of the
 * children that are there, and what was proposed just before. A proposal must differ from all of them. One that
 * does not is sent back, and is a failure if it comes again; there are no silent duplicates. Actions are
 * compared as text, without regard to white space.
 *
 * Where nothing is known, the prompt is that of the state. `count` actions are `count` calls or more, one
 * after the other. Where independent samples are wanted, nothing is shown and nothing is sent back for being
 * known.
 *
 * The code of I-MCTS shows the texts of the siblings alone; this policy shows what came of them too, as the
 * paper says.
 *
 * @see Liang et al., "I-MCTS: Enhancing Agentic AutoML via Introspective Monte Carlo Tree Search", 2025, the
 * introspective expansion: 5 children a node.
 */
export function introspective<State = any, Action = any>(
  options: IntrospectiveOptions<State, Action>,
): Policy<State, Action> {
  expectOptions(
    'introspective',
    options,
    'samples repairs prompts siblingsPrompts model temperature topP maxTokens stop seed promptParts see most characters',
  );
  const { model, samples = 5, repairs = 1, promptParts = [], siblingsPrompts } = options;
  expectMethods('model', model, ['generate']);
  expectInteger('samples', samples, { min: 1 });
  expectInteger('repairs', repairs, { min: 0 });
  const set = withTexts(usual, options.prompts);
  const { prompts: _, ...shown } = options;
  const tellerFor = siblingsTeller<State, Action>({
    ...shown,
    ...(siblingsPrompts !== undefined && { prompts: siblingsPrompts }),
  });
  const sampling = settingsOf(options);

  return {
    ...provenanceOf(
      { needsNotation: ['introspective'] },
      provenanceOfModel(model, sampling),
      ...promptParts,
      repairProvenance(repairs),
      { prompts: tellerFor.prompts },
      { prompts: promptsOf(set) },
    ),
    async propose(node, request) {
      const { context, offset, count: wanted, independent = false } = request;
      const state = stateOf(node);
      const notation = notationOf(request);
      const settings = settingsFor(notation, sampling, { model });
      const read = readerOf(notation);
      const teller = tellerFor(notation);
      const keyOf = (action: Action) => notation.format(action).replace(/\s+/g, ' ').trim();
      const count = Number.isFinite(wanted) ? wanted : samples;
      // Taken down before anything is waited for: nodes are live.
      const told = [...teller.childrenOf(node)];
      const known = new Set(independent ? [] : node.children.map(({ action }) => keyOf(action)));
      const prompt = await withParts(notation.prompt(state), promptParts, { ...request, node });
      const study = { texts: set.texts, teller, prompt, told, known, keyOf, offset, count };
      const ask = (messages: readonly Message[]): Dialogue<Action> => ({
        ...{ model, settings, context, messages, repairs },
        read: (completion) => fresh(read(state, completion), study, completion),
      });
      return independent
        ? proposeSamples(ask(prompt), { offset, count })
        : proposeInTurn(ask, study);
    },
  };
}

/** An action that is not known yet, or why it is none. */
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

/** One after the other, each in the light of those before it. */
async function proposeInTurn<State, Action>(
  ask: (messages: readonly Message[]) => Dialogue<Action>,
  { texts, teller, prompt, told, known, keyOf, offset, count }: Study<State, Action>,
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

/** What is known at a node, and what is wanted there. */
interface Study<State, Action> {
  readonly texts: IntrospectiveTexts;
  readonly teller: SiblingsTeller<State, Action>;
  readonly prompt: readonly Message[];
  /** Siblings as text. */
  readonly told: string[];
  /** Siblings by their keys. */
  readonly known: Set<string>;
  readonly keyOf: (action: Action) => string;
  readonly offset: number;
  readonly count: number;
}
