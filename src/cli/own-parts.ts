import type { Command } from 'commander';
import { defined } from '../backends/transport/json.ts';
import { EspalierError } from '../base/errors.ts';
import { messageOf } from '../base/failure.ts';
import { fileFingerprint } from '../base/file-fingerprint.ts';
import { exportOf, isModule, withPlace } from '../base/user-module.ts';
import type { EvaluatorLike } from '../contracts/evaluator.ts';
import type { PolicyLike } from '../contracts/policy.ts';
import { algorithmNames } from '../runs/algorithms.ts';
import { methodNames } from '../runs/methods.ts';
import type { PartRequest } from '../runs/part-request.ts';
import type { ShownEnvironment } from '../runs/problem.ts';
import type { AskedProblem } from '../runs/problems-file.ts';
import type { SearchAlgorithm } from '../search/contracts.ts';
import { expectAlgorithm } from '../search/parts.ts';
import type { Models } from './model.ts';
import { expectWord, type WordParser, withWords } from './values.ts';

/** Modules of the user's own, each named by its path. */
export interface OwnRequest {
  readonly environment?: string;
  readonly algorithm?: string;
  readonly policy?: string;
  readonly value?: string;
}

/** What such modules export. */
export interface OwnParts {
  readonly environment?: ShownEnvironment;
  readonly algorithm?: SearchAlgorithm;
  readonly policy?: PolicyLike;
  readonly value?: EvaluatorLike;
}

/** A module, and what its file held. What that imports is not looked at. */
export type ModuleIdentity = Readonly<Record<'file' | 'module', string>>;

/** The modules that were named, loaded. Environments that were not released are closed with it. */
export interface OwnModules extends AsyncDisposable {
  /** What they are, for `run.json`: a run goes on only with the same ones. */
  readonly identity: Readonly<Record<string, ModuleIdentity>>;
  /** Whether a module of this kind was named. */
  has(kind: keyof OwnParts): boolean;
  /**
   * The parts for one problem.
   *
   * @throws EspalierError `usage` if the function of a module throws, or makes something else.
   */
  make(request: PartRequest): Promise<OwnParts>;
  /** Closes an environment once it has been released as often as it was made: a module may share one. */
  release(environment: ShownEnvironment | undefined): Promise<void>;
}

interface Kind {
  /** What is expected, in words. */
  readonly what: string;
  /** Its fields, by their types. */
  readonly fields: Readonly<Record<string, string>>;
  /** Whether a bare function is one, too, where another function makes it. */
  readonly isFunction?: boolean;
  /** Throws unless its fields hold what they may. */
  check?(value: unknown): void;
}

const kinds: Readonly<Record<keyof OwnParts, Kind>> = {
  environment: {
    what: 'an environment: an object with `name`, `reset`, `step` and `notation`',
    fields: { name: 'string', reset: 'function', step: 'function', notation: 'object' },
  },
  algorithm: {
    what: 'an algorithm: an object with `name`, `concurrency`, `laws` and `run`',
    fields: { name: 'string', run: 'function', laws: 'object' },
    check: (value) => expectAlgorithm('algorithm', value as SearchAlgorithm),
  },
  policy: {
    what: 'a policy: an object with `propose`',
    fields: { propose: 'function' },
    isFunction: true,
  },
  value: {
    what: 'an evaluator: an object with `needs` and `evaluate`',
    fields: { needs: 'string', evaluate: 'function' },
    isFunction: true,
  },
};

/** The options of all commands that search. `--algorithm` is an option of each command itself. */
export function addOwnOptions(command: Command): Command {
  return addGuideOptions(
    command.option(
      '--environment <file>',
      `${module} the environment, such as ./world.ts`,
      moduleOption,
    ),
  );
}

const module = 'a module of your own that exports';

/** The options of all commands that search, and of those that compare how. */
export function addGuideOptions(command: Command): Command {
  return command
    .option('--policy <file>', `${module} the policy`, moduleOption)
    .option('--value <file>', `${module} the evaluator`, moduleOption);
}

/** Reads `--algorithm`: one of the package, or the path of a module. */
export const algorithmOption: WordParser<(text: string) => string> = withWords((text: string) => {
  if (methodNames.includes(text)) {
    const message = `\`${text}\` is a method, and no algorithm: write \`--method ${text}\`.`;
    throw new EspalierError('usage', message);
  }
  if (!isModule(text)) expectWord('--algorithm', text, algorithmNames);
  return text;
}, algorithmNames);

/** Reads the path of a module. */
export function moduleOption(text: string): string {
  if (isModule(text)) return text;
  throw new EspalierError(
    'usage',
    `Expected the path of a module such as \`./world.ts\`, got \`${text}\`.`,
  );
}

/**
 * Loads the modules that were named.
 *
 * @throws EspalierError `usage`, naming the file and what it should export.
 */
export async function loadParts(request: OwnRequest): Promise<OwnModules> {
  const named = (Object.keys(kinds) as (keyof OwnParts)[]).filter((name) =>
    isModule(request[name] ?? ''),
  );
  const parts = await Promise.all(named.map((name) => loadPart(name, request[name] ?? '')));
  const uses = new Map<Closable, number>();
  return {
    identity: Object.fromEntries(parts.map(({ name, identity }) => [name, identity])),
    has: (kind) => named.includes(kind),
    async make(asked) {
      const made = await Promise.all(
        parts.map(async ({ name, make }) => [name, await make(asked)] as const),
      );
      const { environment, ...rest }: OwnParts = Object.fromEntries(made);
      if (environment === undefined) return rest;
      uses.set(environment, (uses.get(environment) ?? 0) + 1);
      return { environment, ...rest };
    },
    async release(environment) {
      if (environment === undefined) return;
      const count = uses.get(environment) ?? 0;
      uses.set(environment, count - 1);
      if (count > 1) return;
      uses.delete(environment);
      await (environment as Closable).close?.();
    },
    async [Symbol.asyncDispose]() {
      for (const environment of uses.keys()) await environment.close?.();
    },
  };
}

type Closable = ShownEnvironment & { close?(): unknown };

interface LoadedPart {
  readonly name: keyof OwnParts;
  readonly identity: ModuleIdentity;
  make(request: PartRequest): Promise<unknown>;
}

async function loadPart(name: keyof OwnParts, path: string): Promise<LoadedPart> {
  const exported = await exportOf(path, name);
  const kind = kinds[name];
  if (typeof exported !== 'function' && !isOne(exported, kind)) {
    const lacks = lackOf(exported, kind);
    const got = lacks === undefined ? '' : ` Its export has no \`${lacks}\`.`;
    const message = `Expected \`${path}\` to export, as its default or as \`${name}\`, ${kind.what}; or a function that makes it of { model, judgeModel, problem }.${got}`;
    throw new EspalierError('usage', message);
  }
  if (typeof exported !== 'function') kind.check?.(exported);
  return {
    name,
    identity: { module: path, file: fileFingerprint(path) ?? '' },
    async make(request) {
      if (typeof exported !== 'function') return exported;
      const made = await madeBy(exported as Maker, request, { name, path });
      if (isOne(made, kind) || (kind.isFunction === true && typeof made === 'function')) {
        kind.check?.(made);
        return made;
      }
      const message = `Expected the function that \`${path}\` exports to make ${kind.what}.`;
      throw new EspalierError('usage', message);
    },
  };
}

type Maker = (request: PartRequest) => unknown;

async function madeBy(
  maker: Maker,
  request: PartRequest,
  { name, path }: { readonly name: string; readonly path: string },
): Promise<unknown> {
  try {
    return await maker(request);
  } catch (cause) {
    const reason = messageOf(cause).replace(/\.$/, '');
    const message = `The function that \`${path}\` exports has made no ${name} for the problem ${JSON.stringify(request.problem.id)}: ${reason}.`;
    // Said here, so that it is also in the reason of a search that fails by it.
    throw new EspalierError('usage', withPlace(message, cause));
  }
}

function isOne(value: unknown, { fields }: Kind): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const object = value as Readonly<Record<string, unknown>>;
  return Object.entries(fields).every(
    ([name, type]) => typeof object[name] === type && object[name] !== null,
  );
}

/** The first field that an object lacks. */
function lackOf(value: unknown, { fields }: Kind): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const object = value as Readonly<Record<string, unknown>>;
  return Object.keys(fields).find((name) => object[name] === undefined);
}

/** The parts for a problem, which are not told its known answer. */
export function partsFor(
  { answer: _, ...problem }: AskedProblem,
  { model, judgeModel = model }: Models,
  own: OwnModules,
): Promise<OwnParts> {
  return own.make({ problem, ...defined({ model, judgeModel }) });
}

/** A problem is of one world. */
export function environmentAndTask(): EspalierError {
  return new EspalierError('usage', 'Expected `--environment` or `--task`, got both.');
}
