import type { Parsed } from '../../src/contracts/environment.ts';
import type { Failure } from '../../src/contracts/failure.ts';

/** The action that was read, or why there is none. */
export function told<Action>(parsed: Parsed<Action>): Action | Failure {
  return 'failure' in parsed ? parsed.failure : parsed.action;
}
