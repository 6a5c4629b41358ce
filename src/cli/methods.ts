import { Command } from 'commander';
import type { JsonValue } from '../contracts/json.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import { type Method, type MethodEntry, methods } from '../methods/index.ts';
import type { SearchOptions } from '../search/contracts.ts';
import { solved } from '../search/stop-conditions.ts';
import { print } from './output.ts';

/** The names of all methods. */
export const methodNames: readonly string[] = methods.map(({ name }) => name);

/** A method, and what takes the place of its parts. */
export interface MethodPlan extends Pick<SearchOptions, 'algorithm' | 'evaluator' | 'policy'> {
  readonly method: Method;
}

/**
 * A method with the paper's defaults, which ends with a solution: that is what is asked for here. The packaged model
 * was taught to propose a step and to judge a state in one word, and plays only those parts.
 */
export function methodFor(
  name: string,
  options: { readonly model: LanguageModel; readonly maxTokens: number },
): MethodPlan {
  const { create, plain } = entryOf(name);
  const method = { stopWhen: [solved()], ...create(options) };
  return { method, ...(options.model.provider === 'tiny' && plain?.(options)) };
}

/** What `run.json` says of a method: its name, which of its parts were replaced, and what makes its pairs. */
export function describeMethod({
  method,
  ...replaced
}: MethodPlan): Readonly<Record<string, JsonValue>> {
  return {
    method: method.name,
    replaced: Object.keys(replaced).sort(),
    pairs: method.pairs?.name ?? null,
  };
}

/** The name of the rule that makes pairs of the trees of a run: the one of its method, where that has one. */
export function pairsOf(run: JsonValue | undefined): string {
  const isRecord = typeof run === 'object' && run !== null && !Array.isArray(run);
  const pairs = isRecord ? (run as Readonly<Record<string, unknown>>)['pairs'] : undefined;
  return typeof pairs === 'string' ? pairs : 'agent-q';
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
    const list = methods.map(({ name, title, paper }) => ({ name, title, paper }));
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
