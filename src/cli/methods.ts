import { Command } from 'commander';
import { defined } from '../backends/transport/json.ts';
import { EspalierError } from '../base/errors.ts';
import { isModule } from '../base/user-module.ts';
import type { JsonValue } from '../contracts/json.ts';
import { type Method, methods } from '../methods/index.ts';
import { algorithmEntry, algorithmFor } from '../runs/algorithms.ts';
import { methodFor } from '../runs/methods.ts';
import type { Problem } from '../runs/problem.ts';
import type { AlgorithmEntry } from '../search/algorithms/entry.ts';
import type { SearchOptions, StopCondition } from '../search/contracts.ts';
import { guidesOf, type ModelRequest, type Models } from './model.ts';
import { print, printError } from './output.ts';
import type { OwnParts } from './own-parts.ts';

/** How a problem is searched, and what `run.json` says of that. */
export interface Plan {
  readonly plan: Pick<SearchOptions, 'algorithm' | 'evaluator' | 'fill' | 'policy'> & {
    readonly method?: Method;
    readonly stopWhen?: readonly StopCondition[];
  };
  readonly asked: Readonly<Record<string, JsonValue>>;
}

/**
 * The method that was asked for, or an algorithm with the usual guides.
 *
 * @throws EspalierError `usage` for a method without a model.
 */
export function planFor(
  request: ModelRequest & {
    readonly method?: string;
    readonly algorithm?: string;
    readonly fill?: boolean;
  },
  { model, judgeModel }: Models,
  { problem, parts }: { readonly problem: Problem; readonly parts: OwnParts },
): Plan {
  const { method: name, algorithm = 'mcts', fill = false } = request;
  const { environment: _, value, ...given } = parts;
  const own = { ...given, ...(value !== undefined && { evaluator: value }) };
  const { effort, judgeEffort, thoughtTokens, maxTokens = problem.maxTokens } = request;
  const asked = {
    fill,
    ...defined({ effort, judgeEffort, thoughtTokens, maxTokens: request.maxTokens }),
  };
  if (name === undefined) {
    const entry: Partial<AlgorithmEntry> = isModule(algorithm) ? {} : algorithmEntry(algorithm);
    if (entry.votes === true && problem.environment.answer === undefined) {
      const message = `Expected a question for \`--algorithm ${algorithm}\`, which lets answers vote: a puzzle has none. Take best-of-n.`;
      throw new EspalierError('usage', message);
    }
    const guides = guidesOf(
      { model, ...defined({ judgeModel }) },
      { ...problem, maxTokens },
      entry,
    );
    const looped = isModule(algorithm)
      ? {}
      : algorithmFor(algorithm, model === undefined ? (problem.unaided ?? {}) : undefined);
    return { plan: { ...guides, ...looped, ...own, fill }, asked: { algorithm, ...asked } };
  }
  if (model === undefined) {
    throw new EspalierError('usage', 'Expected `--model` to name a model: a method needs one.');
  }
  const plan = methodFor(name, { model, maxTokens, ...defined({ judgeModel }) });
  const { method, ...replacing } = { ...plan, ...own };
  const replaced = Object.keys(replacing).sort();
  const pairs = method.pairs?.name ?? null;
  return {
    plan: { ...plan, ...own, fill },
    asked: { method: method.name, replaced, pairs, ...asked },
  };
}

/** Says that a method does not judge states as published, unless the user chose that. */
export function tellReplaced(plan: Plan['plan'], parts: OwnParts): void {
  if (plan.method === undefined || !('evaluator' in plan) || 'value' in parts) return;
  printError(
    `The evaluator of \`${plan.method.name}\` is replaced: the model in the package judges states only in one word.`,
  );
}

/** The name of the rule that makes pairs of the trees of a run: the one of its method, where that has one. */
export function pairsOf(run: JsonValue | undefined): string {
  const isRecord = typeof run === 'object' && run !== null && !Array.isArray(run);
  const pairs = isRecord ? (run as Readonly<Record<string, unknown>>)['pairs'] : undefined;
  return typeof pairs === 'string' ? pairs : 'agent-q';
}

/** The command without its action. */
export function methodsCommand(): Command {
  return new Command('methods')
    .description('List the published methods.')
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
      'Example: espalier search --task game24 --input "4 9 10 13" --method agent-q --calls 100',
    ].join('\n'),
  );
}
