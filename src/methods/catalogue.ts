import { agentQ } from './agent-q.ts';
import { iMcts } from './i-mcts.ts';
import { mctsDpo } from './mcts-dpo.ts';
import type { Method, MethodOptions } from './method.ts';
import { rMcts } from './r-mcts.ts';
import { restMcts } from './rest-mcts.ts';

/** A method by its name, with what it takes of every method. */
export interface MethodEntry {
  /** The name in commands, results and datasets, in kebab-case. */
  readonly name: string;
  /** What the paper calls it. */
  readonly title: string;
  /** The paper: authors, title, year, number. */
  readonly paper: string;
  /** The name of the algorithm that grows its trees. */
  readonly algorithm: string;
  /** Makes it with its defaults. */
  create<State, Action>(options: MethodOptions<State, Action>): Method<State, Action>;
}

/** All methods, by name. */
export const methods: readonly MethodEntry[] = [
  {
    name: 'agent-q',
    title: 'Agent Q',
    paper:
      'Putta et al., Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents, 2024, arXiv 2408.07199',
    algorithm: 'mcts',
    create: agentQ,
  },
  {
    name: 'i-mcts',
    title: 'I-MCTS',
    paper:
      'Liang et al., I-MCTS: Enhancing Agentic AutoML via Introspective Monte Carlo Tree Search, 2025, arXiv 2502.14693',
    algorithm: 'mcts',
    create: iMcts,
  },
  {
    name: 'mcts-dpo',
    title: 'MCTS-DPO',
    paper:
      'Xie et al., Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning, 2024, arXiv 2405.00451',
    algorithm: 'mcts',
    create: mctsDpo,
  },
  {
    name: 'r-mcts',
    title: 'R-MCTS (ExACT)',
    paper:
      'Yu et al., ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning, 2024, arXiv 2410.02052',
    algorithm: 'mcts',
    create: rMcts,
  },
  {
    name: 'rest-mcts',
    title: 'ReST-MCTS*',
    paper:
      'Zhang et al., ReST-MCTS*: LLM Self-Training via Process Reward Guided Tree Search, 2024, arXiv 2406.03816',
    algorithm: 'mcts',
    create: restMcts,
  },
];
