import { abMctsEntry } from './ab-mcts.ts';
import { astarEntry } from './astar.ts';
import { beamEntry } from './beam.ts';
import { bestFirstEntry } from './best-first.ts';
import { bestOfNEntries } from './best-of-n.ts';
import { budgetedEntry } from './budgeted.ts';
import { depthFirstEntry } from './depth-first.ts';
import type { AlgorithmEntry } from './entry.ts';
import { gumbelEntry } from './gumbel.ts';
import { latsEntry } from './lats.ts';
import { mctsEntry } from './mcts.ts';

/** All algorithms that can be chosen by name. */
export const algorithms: readonly AlgorithmEntry[] = [
  abMctsEntry,
  astarEntry,
  beamEntry,
  bestFirstEntry,
  ...bestOfNEntries,
  budgetedEntry,
  depthFirstEntry,
  gumbelEntry,
  latsEntry,
  mctsEntry,
];
