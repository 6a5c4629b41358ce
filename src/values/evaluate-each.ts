import { failedBy } from '../base/failure.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../contracts/evaluator.ts';
import type { Failed } from '../contracts/failure.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { Message } from '../contracts/language-model.ts';
import type { ChildNode, NodeWithState, SearchNode } from '../contracts/node.ts';
import type { PromptPart } from '../contracts/prompt-part.ts';
import { notationOf } from '../prompting/notation.ts';
import { withParts } from '../prompting/prompt-parts.ts';
import { type ToolsShown, toolsShown } from '../prompting/tools-shown.ts';
import { noState } from './no-state.ts';

type Verdict = Evaluation | Failed;

/**
 * The subject of an evaluation: a state or, if the evaluator judges actions, a step and the state in which it is
 * proposed. The root has no step.
 */
export interface Sight<State, Action> {
  /** The node of the state. */
  readonly place: NodeWithState<State, Action>;
  /** The step. */
  readonly step: ChildNode<State, Action> | undefined;
}

/**
 * The methods of an evaluator that treats nodes separately: values are marked with what they are about, and an error
 * fails only its node.
 *
 * @param begin - Begins a batch, with preparations that its nodes share.
 */
export function evaluateEach<State, Action>(
  about: 'action' | 'state',
  begin: (
    request: EvaluateRequest<State, Action>,
  ) => (sight: Sight<State, Action>) => Promise<Verdict>,
): Pick<Evaluator<State, Action>, 'evaluate' | 'needs'> {
  return {
    needs: about === 'action' ? 'proposed' : 'realised',
    evaluate(nodes, request) {
      const evaluate = begin(request);
      return Promise.all(
        nodes.map(async (node) => {
          const step = about === 'action' && node.kind !== 'root' ? node : undefined;
          const place = step === undefined ? node : step.parent;
          if (place.kind === 'proposed') return noState;
          try {
            return saying(about, node, await evaluate({ place, step }));
          } catch (error) {
            return failedBy(error, 'call', request.context);
          }
        }),
      );
    },
  };
}

/** An evaluation of a node, marked with what it is about. */
export function saying(
  about: 'action' | 'state',
  { kind }: Pick<SearchNode, 'kind'>,
  verdict: Verdict,
): Verdict {
  const isState = about === 'state' || kind === 'root';
  return isState || 'failure' in verdict ? verdict : { ...verdict, about };
}

/** The subject as text: the prompt of the state followed by prompt parts, and the step. */
export interface Subject {
  /** The prompt. */
  readonly messages: readonly Message[];
  /** Additional settings of a request with it. */
  readonly tools: ToolsShown;
  /** The step; `undefined` if the state is evaluated. */
  readonly step: string | undefined;
}

/** The subject of an evaluation as text. */
export function subjectOf<State, Action>(
  { place, step: node }: Sight<State, Action>,
  promptParts: readonly PromptPart<State, Action>[],
  request: EvaluateRequest<State, Action>,
): MaybePromise<Subject> {
  const notation = notationOf(request);
  const messages = notation.prompt(place.state);
  const step = node && notation.format(node.action);
  const tools = toolsShown(notation);
  // Without prompt parts no promise is needed.
  if (promptParts.length === 0) return { messages, tools, step };
  return withParts(messages, promptParts, { ...request, node: place }).then((told) => ({
    messages: told,
    tools,
    step,
  }));
}
