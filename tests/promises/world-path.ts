import { systemClock } from '../../src/base/clock.ts';
import type { SearchNode } from '../../src/index.ts';
import { plainContext } from '../../src/testing/index.ts';
import { realisedNode, rootNode } from '../support/nodes.ts';
import type { Action, State, ToolWorld } from './world-tools.ts';

/** A node behind actions that were taken one after the other, as a search takes them. */
export async function pathOf(
  environment: ToolWorld,
  actions: readonly Action[],
): Promise<SearchNode<State, Action>> {
  const context = plainContext({ clock: systemClock });
  const { state } = await environment.reset(context);
  let node: SearchNode<State, Action> = rootNode(state);
  for (const action of actions) node = await stepFrom(environment, node, action);
  return node;
}

/** The child that an action leads to. */
export async function stepFrom(
  environment: ToolWorld,
  parent: SearchNode<State, Action>,
  action: Action,
): Promise<SearchNode<State, Action>> {
  const context = plainContext({ clock: systemClock });
  const { state } = await environment.step(parent.state as State, action, context);
  return realisedNode(action, state, { parent });
}

export const set = (key: string, value: string): Action => ({ tool: 'set', input: { key, value } });
export const add = (value: string): Action => ({ tool: 'add', input: { value } });
export const get = (key: string): Action => ({ tool: 'get', input: { key } });
export const note = (value: string): Action => ({ tool: 'note', input: { value } });
export const mail = (text: string): Action => ({ tool: 'mail', input: { text } });
export const call = (text: string): Action => ({ tool: 'call', input: { text } });
export const list: Action = { tool: 'list', input: {} };
