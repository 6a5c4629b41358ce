import { EspalierError } from '../base/errors.ts';
import { expectObject } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { heuristic } from '../values/heuristic.ts';
import { listPolicy, type Problem } from './problem.ts';

/** The transitions of each state, by action. The first state is the start. */
export interface MdpTable {
  readonly [state: string]: {
    readonly [action: string]: {
      /** s′. A state without a row in the table is terminal. */
      readonly to: string;
      /** r(s, a). @defaultValue none */
      readonly reward?: number;
      /** c(s, a). @defaultValue none */
      readonly cost?: number;
      /** P(s, a). @defaultValue an equal share */
      readonly prior?: number;
    };
  };
}

/**
 * A deterministic Markov decision process given as a table, small enough to solve by hand. States and actions are their
 * names.
 */
export function tableMdp(
  table: MdpTable,
  options: {
    /** The name of the environment. @defaultValue `'table-mdp'` */
    readonly name?: string;
    /** v(s) of states without a reward. @defaultValue 0 */
    readonly values?: Readonly<Record<string, number>>;
    /** Whether states have keys, so that duplicates are recognised. @defaultValue true */
    readonly keys?: boolean;
  } = {},
): Problem<string, string> {
  expectOptions('tableMdp', options, 'name values keys');
  expectObject('table', table);
  const { name = 'table-mdp', values = {}, keys = true } = options;
  const [start] = Object.keys(table);
  if (start === undefined) throw new EspalierError('usage', 'Expected `table` to hold a state.');
  return {
    environment: {
      name,
      reset: () => ({ state: start }),
      step(state, action) {
        const transition = table[state]?.[action];
        if (transition === undefined) {
          const message = `Expected an action of ${state}, got ${action}.`;
          throw new EspalierError('usage', message, { scope: 'item' });
        }
        const { to, reward, cost } = transition;
        return {
          state: to,
          ...(reward !== undefined && { reward }),
          ...(cost !== undefined && { cost }),
          ...(table[to] === undefined && { terminal: true }),
        };
      },
      ...(keys && { key: (state: string) => state }),
      answer: (state) => (table[state] === undefined ? state : undefined),
    },
    policy: listPolicy((state) =>
      Object.entries(table[state] ?? {}).map(([action, { prior }]) => ({
        action,
        ...(prior !== undefined && { prior }),
      })),
    ),
    evaluator: heuristic((state) => values[state] ?? 0),
  };
}
