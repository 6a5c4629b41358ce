import type { CallReport } from '../calls/call-in-flight.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { Failure } from '../contracts/failure.ts';
import type { ModelWarning } from '../contracts/language-model.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Spend } from '../contracts/spend.ts';
import type { SearchTree } from '../tree/tree.ts';
import type { SearchResult, SimulationOutcome } from './contracts.ts';

/**
 * What happens in a search, in order. Nodes and trees are live: copy what you keep. `JSON.stringify` writes them as they are
 * by then; the `json()` of a stream, as they were at the event, and with the codec of the environment.
 */
export type SearchEvent<State = unknown, Action = unknown> =
  | {
      /** A search begins. */
      readonly type: 'search-start';
      /** The tree that will grow. */
      readonly tree: SearchTree<State, Action>;
    }
  | {
      /** A simulation begins. */
      readonly type: 'simulation-start';
      /** Its number, from 0. */
      readonly simulation: number;
      /** The name of the round it belongs to, if the algorithm gave it one. */
      readonly round?: string;
    }
  | {
      /** A policy has proposed actions. */
      readonly type: 'node-expanded';
      /** The node for which they were proposed. */
      readonly node: SearchNode<State, Action>;
      /** The child of each proposal, in order. */
      readonly children: readonly SearchNode<State, Action>[];
    }
  | {
      /** One proposal of a batch failed. */
      readonly type: 'proposal-failed';
      /** The node for which it was proposed. */
      readonly node: SearchNode<State, Action>;
      /** Why it failed. */
      readonly failure: Failure;
    }
  | {
      /** An action has been taken. */
      readonly type: 'node-realised';
      /** The node, which now has a state. */
      readonly node: SearchNode<State, Action>;
    }
  | {
      /** A node has been evaluated. */
      readonly type: 'node-evaluated';
      /** The node. */
      readonly node: SearchNode<State, Action>;
      /** Its evaluation. */
      readonly evaluation: Evaluation;
    }
  | {
      /** A node has failed. */
      readonly type: 'node-failed';
      /** The node. */
      readonly node: SearchNode<State, Action>;
      /** Why. */
      readonly failure: Failure;
    }
  | {
      /** A paid call has taken effect. */
      readonly type: 'call-end';
      /** The kind of call, and its cost. */
      readonly call: CallReport;
    }
  | {
      /** A model cannot do something that was requested. */
      readonly type: 'warning';
      /** The unsupported feature, and what is done instead. */
      readonly warning: ModelWarning;
    }
  | {
      /** A simulation has ended. */
      readonly type: 'simulation-end';
      /** Its number, from 0. */
      readonly simulation: number;
      /** Its outcome. */
      readonly outcome: SimulationOutcome;
      /** The best node so far. */
      readonly best: SearchNode<State, Action>;
      /** What has been spent so far. */
      readonly spend: Spend;
    }
  | {
      /** The real world has taken a step. */
      readonly type: 'cursor-advanced';
      /** The node it is at now. */
      readonly node: SearchNode<State, Action>;
    }
  | {
      /** The search is over: the last event. */
      readonly type: 'search-end';
      /** What it found. */
      readonly result: SearchResult<State, Action>;
    };
