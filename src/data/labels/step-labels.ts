import { mathShepherd } from './math-shepherd.ts';
import { omegaPrm } from './omega-prm.ts';
import { pav } from './pav.ts';
import { prm800k } from './prm800k.ts';
import { restMcts } from './rest-mcts.ts';

/** The rules that label the steps of solutions, to train process reward models on. */
export interface StepLabels {
  /** The share of right ends below, and whether there is any. */
  readonly mathShepherd: typeof mathShepherd;
  /** The Monte-Carlo value of each prefix. */
  readonly omegaPrm: typeof omegaPrm;
  /** Value and progress under a prover. */
  readonly pav: typeof pav;
  /** Ratings of −1, 0 and 1, with all that was proposed in the place of a step. */
  readonly prm800k: typeof prm800k;
  /** How far a step has come on the way to a right end. */
  readonly restMcts: typeof restMcts;
}

/** The rules that label the steps of solutions, to train process reward models on. */
export const stepLabels: StepLabels = { mathShepherd, omegaPrm, pav, prm800k, restMcts };
