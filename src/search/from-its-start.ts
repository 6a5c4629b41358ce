import type { SearchEvent } from './events.ts';

type Emit<State, Action> = ((event: SearchEvent<State, Action>) => void) | undefined;

/** Calls made by `reset` end before there is a tree to report; their events are delayed until after `search-start`. */
export function fromItsStart<State, Action>(emit: Emit<State, Action>): Emit<State, Action> {
  if (emit === undefined) return undefined;
  let early: SearchEvent<State, Action>[] | undefined = [];
  return (event) => {
    if (early !== undefined && event.type !== 'search-start') {
      early.push(event);
      return;
    }
    emit(event);
    for (const before of early?.splice(0) ?? []) emit(before);
    early = undefined;
  };
}
