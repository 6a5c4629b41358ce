import type { Notation } from '../contracts/environment.ts';
import type { Policy } from '../contracts/policy.ts';
import { notationOf, withNotation } from '../prompting/notation.ts';
import { replyText } from '../prompting/read-reply.ts';

const ownLabel = /^[ \t]*(?:#{1,6}[ \t]+)?(?:\*\*)?step[ \t]+\d{1,3}(?:\*\*)?[ \t]*[:.)][ \t]*/gim;
const emptyLines = /\n[ \t]*(?:\n[ \t]*)+/g;

/** A policy that sees the environment in another notation. */
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
 * The same notation, except that a step for which `isWhole` holds may be written like a complete solution, with empty
 * lines and numbered steps. These are removed before it is read, so that it is not cut there. JSON is read unchanged.
 *
 * @param delimiter - The stop text; leave it out if any step may be a complete solution.
 */
export function withWholeSteps<State, Action>(
  notation: Notation<State, Action>,
  isWhole: (text: string) => boolean,
  delimiter?: string,
): Notation<State, Action> {
  const { schema } = notation;
  return {
    prompt: (state) => notation.prompt(state),
    format: (action) => notation.format(action),
    parse: (text, state) =>
      notation.parse(schema === undefined && isWhole(bare(text)) ? joined(text) : text, state),
    ...(schema !== undefined && { schema }),
    ...(delimiter !== undefined && { delimiter }),
  };
}

/** A text without preceding thoughts and without the label of a step. */
function bare(text: string): string {
  return replyText({ text }).replace(ownLabel, '');
}

function joined(text: string): string {
  return text.replaceAll('\r\n', '\n').trim().replace(ownLabel, '').replace(emptyLines, '\n');
}
