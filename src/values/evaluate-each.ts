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

/** What is looked at: a state, and the step that is proposed there where it is not the state. The start has no step. */
export interface Sight<State, Action> {
  /** The node of the state. */
  readonly place: NodeWithState<State, Action>;
  /** The step. */
  readonly step: ChildNode<State, Action> | undefined;
}

/**
 * What an evaluator does that looks at nodes side by side: it says of the values what they are about, and what throws
 * fails its node alone.
 *
 * @param begin - Begins a batch; what it prepares is shared by the nodes.
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

/** An evaluation of a node that says what it is about. */
export function saying(
  about: 'action' | 'state',
  { kind }: Pick<SearchNode, 'kind'>,
  verdict: Verdict,
): Verdict {
  const isState = about === 'state' || kind === 'root';
  return isState || 'failure' in verdict ? verdict : { ...verdict, about };
}

/** What is looked at, as text: the prompt of the state with what parts tell behind it, and the step. */
export interface Subject {
  /** The prompt. */
  readonly messages: readonly Message[];
  /** What a request with it has besides. */
  readonly tools: ToolsShown;
  /** The step, where it is not the state that is looked at. */
  readonly step: string | undefined;
}

/** What is looked at, as text. */
export function subjectOf<State, Action>(
  { place, step: node }: Sight<State, Action>,
  promptParts: readonly PromptPart<State, Action>[],
  request: EvaluateRequest<State, Action>,
): MaybePromise<Subject> {
  const notation = notationOf(request);
  const messages = notation.prompt(place.state);
  const step = node && notation.format(node.action);
  const tools = toolsShown(notation);
  // With nothing else to be told the question is asked at once.
  if (promptParts.length === 0) return { messages, tools, step };
  return withParts(messages, promptParts, { ...request, node: place }).then((told) => ({
    messages: told,
    tools,
    step,
  }));
}
