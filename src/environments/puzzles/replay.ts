import { counted } from '../../base/counted.ts';
import { EspalierError } from '../../base/errors.ts';
import type { Verdict } from '../../contracts/verifier.ts';
import type { PuzzleEnvironment } from './puzzle.ts';

/**
 * Replays actions from the start.
 *
 * @param missing - Describes what a state still lacks; `undefined` for a solved one.
 */
export function replay<State, Action>(
  environment: PuzzleEnvironment<State, Action>,
  actions: readonly Action[],
  missing: (state: State) => string | undefined,
): Verdict {
  let { state } = environment.reset();
  for (const [index, action] of actions.entries()) {
    try {
      state = environment.step(state, action).state;
    } catch (error) {
      if (!EspalierError.isInstance(error)) throw error;
      return wrong(`Step ${index + 1}: ${error.message}`);
    }
  }

  const lacking = missing(state);
  return lacking === undefined
    ? { correct: true }
    : wrong(`After ${counted(actions.length, 'step')}: ${lacking}`);
}

function wrong(rationale: string): Verdict {
  return { correct: false, rationale };
}
