import { Command } from 'commander';
import type { JsonValue } from '../contracts/json.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import { ruleNamed } from '../data/catalogue.ts';
import type { NotatedEnvironment } from '../environments/with-outcome.ts';
import { type MethodEntry, methods } from '../methods/catalogue.ts';
import { iMcts } from '../methods/i-mcts.ts';
import type { Method } from '../methods/method.ts';
import { rMcts } from '../methods/r-mcts.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { solved } from '../search/stop-conditions.ts';
import { judge } from '../values/judge/judge.ts';
import { print } from './output.ts';

/** The names of all methods. */
export const methodNames: readonly string[] = methods.map(({ name }) => name);

/** The name of the rule that makes pairs of the trees of a run: the one of its method, where that has one. */
export function methodRule(run: JsonValue | undefined): string {
  const isRecord = typeof run === 'object' && run !== null && !Array.isArray(run);
  const method = isRecord ? (run as Readonly<Record<string, unknown>>)['method'] : undefined;
  const isPairs = typeof method === 'string' && ruleNamed(method)?.kind === 'preference';
  return isPairs ? method : 'agent-q';
}

/** What a method is run on. */
export interface MethodGround<State, Action> {
  readonly model: LanguageModel;
  readonly environment: NotatedEnvironment<State, Action>;
  /** The longest step, in tokens. */
  readonly maxTokens: number;
}

/**
 * A method with the paper's defaults, which ends with a solution: that is what is asked for here. The packaged model
 * plays in it only the parts that it was taught.
 */
export function methodFor<State, Action>(
  name: string,
  ground: MethodGround<State, Action>,
): Method<State, Action> {
  const isToy = ground.model.provider === 'tiny';
  const method = isToy ? toyMethod(name, ground) : entryOf(name).create(ground);
  return { stopWhen: [solved()], ...method };
}

/**
 * The packaged model was taught to propose a step and to judge a state in one word. It can neither debate nor
 * rank, knows no rubric, and learns nothing from what siblings did: in place of all that it judges in its own way.
 */
function toyMethod<State, Action>(
  name: string,
  ground: MethodGround<State, Action>,
): Method<State, Action> {
  const { model, environment, maxTokens } = ground;
  const { notation } = environment;
  const options = { ...ground, evaluator: judge({ model, notation }) };
  if (name === 'r-mcts') return rMcts({ ...options, reflects: false });
  if (name === 'i-mcts') {
    return iMcts({ ...options, policy: fromModel({ model, notation, maxTokens }) });
  }
  return entryOf(name).create(options);
}

function entryOf(name: string): MethodEntry {
  const entry = methods.find((each) => each.name === name);
  if (entry === undefined) throw new Error(`Expected one of ${methodNames.join(', ')}.`);
  return entry;
}

/** The command without its action. */
export function methodsCommand(): Command {
  return new Command('methods')
    .description('List the published methods that a search can follow.')
    .option('--json', 'print the list as one JSON document')
    .addHelpText('after', '\nExample: espalier methods --json')
    .action((request: { readonly json?: boolean }) => runMethodsCommand(request));
}

function runMethodsCommand({ json = false }: { readonly json?: boolean }): void {
  if (json) {
    const list = methods.map(({ name, title, paper, algorithm }) => ({
      name,
      title,
      paper,
      algorithm,
    }));
    print(JSON.stringify(list, undefined, 2));
    return;
  }
  const width = Math.max(...methods.map(({ name }) => name.length));
  const indent = ' '.repeat(width + 3);
  print(
    [
      ...methods.map(
        ({ name, title, paper }) => `${name.padEnd(width)}   ${title}\n${indent}${paper}`,
      ),
      '',
      'Example: espalier search --task game24 --input "4 9 10 13" --method r-mcts --calls 100',
    ].join('\n'),
  );
}
