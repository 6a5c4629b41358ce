import { expectInteger } from '../../base/expect.ts';
import { expectModel } from '../../base/expect-capabilities.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import type { Notation } from '../../contracts/environment.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { NodeWithState, SearchNode } from '../../contracts/node.ts';
import type { Policy, Proposal, ProposeRequest } from '../../contracts/policy.ts';
import type { Provenance } from '../../contracts/provenance.ts';
import { notationOf } from '../../prompting/notation.ts';
import { expectParts, withParts } from '../../prompting/prompt-parts.ts';
import { withState } from '../with-state.ts';
import type { Dialogue, SampleRange, Settings } from './samples.ts';
import { type Form, readerOf, type SamplingOptions, settingsFor, settingsOf } from './settings.ts';

/** Settings of a policy that asks a language model. */
export interface AskingSettings<State, Action> {
  /** The policy's name in code. */
  readonly name: string;
  /** Its options, with its own defaults. */
  readonly options: SamplingOptions<State, Action>;
  /** Settings common to all its requests. @defaultValue from the options */
  readonly sampling?: Settings;
  /** The form in which actions are asked for. @defaultValue `'text'` */
  readonly form?: Form;
  /** Further provenance. */
  readonly provenance: readonly (Provenance | undefined)[];
}

/** A request for proposals, prepared for asking a model. */
export interface Asked<State, Action> {
  /** The node for which actions are to be proposed. */
  readonly node: NodeWithState<State, Action>;
  /** The request of the search. */
  readonly request: ProposeRequest<State, Action>;
  /** The notation of states and actions. */
  readonly notation: Notation<State, Action>;
  /** The samples to draw. */
  readonly range: SampleRange;
  /** The prompt of the state, with prompt parts. */
  prompt(): Promise<readonly Message[]>;
  /** A conversation that starts with a question. Its answers are read with a notation, by default the environment's. */
  dialogue(messages: readonly Message[], notation?: Notation<State, Action>): Dialogue<Action>;
}

/** Throws unless there is a model, numbers are in range, and prompt parts are prompt parts. */
export function expectSampling(options: SamplingOptions): void {
  const { model, samples = 1, repairs = 0, promptParts = [] } = options;
  expectModel('model', model);
  expectInteger('samples', samples, { min: 1 });
  expectInteger('repairs', repairs, { min: 0 });
  expectParts(promptParts);
}

/** A policy that asks a language model. */
export function asking<State, Action>(
  { name, options, form = 'text', provenance, ...given }: AskingSettings<State, Action>,
  propose: (asked: Asked<State, Action>) => Promise<readonly Proposal<Action>[]>,
): Policy<State, Action> {
  const { model, promptParts = [], samples = 1, repairs = 0 } = options;
  const { sampling = settingsOf(options) } = given;
  return {
    ...provenanceOf(
      { needsNotation: [name] },
      provenanceOfModel(model, sampling),
      ...promptParts,
      ...provenance,
    ),
    async propose(node: SearchNode<State, Action>, request) {
      const { context, offset, count } = request;
      const place = withState(node);
      const usual = notationOf(request);
      return propose({
        node: place,
        request,
        notation: usual,
        range: { offset, count: Number.isFinite(count) ? count : samples },
        prompt: () => withParts(usual.prompt(place.state), promptParts, { ...request, node }),
        dialogue(messages, notation = usual) {
          const settings = settingsFor(notation, sampling, { model, form });
          const read = readerOf(notation, { model, form });
          return {
            ...{ model, settings, context, messages, repairs },
            read: (completion) => read(place.state, completion),
          };
        },
      });
    },
  };
}
