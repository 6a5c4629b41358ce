import type { Notation } from '../contracts/environment.ts';
import type { Policy } from '../contracts/policy.ts';
import { notationOf, withNotation } from '../prompting/notation.ts';

const ownLabel = /^[ \t]*(?:#{1,6}[ \t]+)?(?:\*\*)?step[ \t]+\d{1,3}(?:\*\*)?[ \t]*[:.)][ \t]*/gim;
const emptyLines = /\n[ \t]*(?:\n[ \t]*)+/g;

/** A policy that sees the environment in another wording. */
export function inNotation<State, Action>(
  policy: Policy<State, Action>,
  change: (notation: Notation<State, Action>) => Notation<State, Action>,
): Policy<State, Action> {
  return {
    ...policy,
    propose: (node, request) =>
      policy.propose(node, {
        ...request,
        environment: withNotation(request.environment, change(notationOf(request))),
        get remaining() {
          return request.remaining;
        },
      }),
  };
}

/**
 * The same notation, in which a step that `isWhole` may be written like a whole solution, with empty lines and
 * numbered steps: they are taken out before it is read, so that it is not cut at them. JSON is read as it is.
 */
export function withWholeSteps<State, Action>(
  notation: Notation<State, Action>,
  isWhole: (text: string) => boolean,
): Notation<State, Action> {
  const { schema, delimiter } = notation;
  return {
    prompt: (state) => notation.prompt(state),
    format: (action) => notation.format(action),
    parse: (text, state) =>
      notation.parse(schema === undefined && isWhole(bare(text)) ? joined(text) : text, state),
    ...(schema !== undefined && { schema }),
    ...(delimiter !== undefined && { delimiter }),
  };
}

/** The same without a delimiter: a model is not told to stop at one. */
export function withoutDelimiter<State, Action>(
  notation: Notation<State, Action>,
): Notation<State, Action> {
  const { delimiter: _, ...others } = withWholeSteps(notation, () => false);
  return others;
}

/** A text without the thoughts before it and the label of a step. */
function bare(text: string): string {
  return text
    .replace(/^.*<\/think>/s, '')
    .trim()
    .replace(ownLabel, '');
}

function joined(text: string): string {
  return text.replaceAll('\r\n', '\n').trim().replace(ownLabel, '').replace(emptyLines, '\n');
}
