import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import { describeValue } from '../base/expect.ts';
import { jsonFault } from '../base/json.ts';
import type { CallContext } from '../contracts/context.ts';
import type { Environment } from '../contracts/environment.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Operation } from '../contracts/operation.ts';
import { contextWith } from './door.ts';
import type { ModelOperation } from './operations/model-operation.ts';

/** The parts of an environment that identify its states. */
type Telling<State> = Pick<Environment<State, never>, 'codec' | 'key'> &
  Partial<Pick<Environment<State, never>, 'name'>>;

/**
 * The content address of a node's state: of its key, or else of its saved form, or else of the start and the actions
 * that led to it.
 */
export function stateAddress<State, Action>(
  node: SearchNode<State, Action>,
  environment: Telling<State> = {},
): string {
  const own = node.kind === 'proposed' ? undefined : ownAddress(environment, node.state);
  if (own !== undefined) return own;
  const actions: Action[] = [];
  let at: SearchNode<State, Action> = node;
  while (at.kind !== 'root') {
    actions.push(at.action);
    at = at.parent;
  }
  const start = jsonFault(at.state) === undefined ? at.state : null;
  return addressOf(environment, { start, actions: actions.toReversed() });
}

/** The key of a state, if the environment has keys. */
export function keyOf<State>(
  environment: Pick<Environment<State, never>, 'key'>,
  state: State,
): string | undefined {
  if (environment.key === undefined) return undefined;
  const key: unknown = environment.key(state);
  if (typeof key === 'string') return key;
  const message = `Expected \`key\` to return a text, got ${describeValue(key)}.`;
  throw new EspalierError('usage', message, { scope: 'item' });
}

function ownAddress<State>(environment: Telling<State>, state: State): string | undefined {
  const key = keyOf(environment, state);
  if (key !== undefined) return addressOf(environment, { key });
  const { codec } = environment;
  return codec === undefined ? undefined : addressOf(environment, { codec: codec.encode(state) });
}

function addressOf<State>({ name = '' }: Telling<State>, told: object): string {
  return contentAddress(canonicalJson('state', { ...told, environment: name }, 'item'));
}

/** Makes a call depend on a state: if its outcome depends on the state, the state becomes part of its address. */
export function acting<Request, Result>(
  operation: Operation<Request, Result>,
  stateOf: () => string,
): Operation<Request, Result> {
  if (operation.actsOnState !== true) return operation;
  const state = stateOf();
  const bound: ModelOperation<Request, Result> = {
    ...operation,
    // The state is included now, so contexts further out must not add theirs.
    actsOnState: false,
    address: (request) => ({ state, input: operation.address(request) }),
    stateless: (request) => operation.address(request),
  };
  return bound;
}

/** A context in which effects act on the given state. */
export function actingOn(context: CallContext, state: () => string): CallContext {
  return contextWith(context, {
    call: async (operation, request) => context.call(acting(operation, state), request),
  });
}

/** The context of a step, for effects in the state that the action has led to; `null` leads to the start. */
export function actingAfter<State, Action>(
  context: CallContext,
  environment: Telling<State>,
  { state, action }: { readonly state: State; readonly action: Action | null },
): CallContext {
  return contextWith(context, {
    async call(operation, request) {
      if (operation.actsOnState !== true) return context.call(operation, request);
      const own = ownAddress(environment, state);
      if (own !== undefined)
        return context.call(
          acting(operation, () => own),
          request,
        );
      // The address of the state before it is added by the step.
      const before = { action: action as JsonValue };
      const address = (asked: typeof request) => ({ ...before, input: operation.address(asked) });
      return context.call({ ...operation, address }, request);
    },
  });
}
