import { randomUUID } from 'node:crypto';
import { canonicalJson } from '../../base/canonical-json.ts';
import { EspalierError } from '../../base/errors.ts';
import { messageOf, sentenceOf } from '../../base/failure.ts';
import { frozen } from '../../base/frozen.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ActCall, Workspace } from '../../contracts/world.ts';
import { type Committing, Halt, type Lending, type Path } from './commit-path.ts';
import type { DoOutside } from './outside.ts';
import { addressOf, type ChainedCall, type MadeCall } from './plan.ts';
import { briefly, predictTool, type Ran, runTool } from './running.ts';
import { type DeclaredTool, isResult } from './tool.ts';

/** The path to rehearse, and what is needed for it. */
export interface Rehearsal {
  readonly parts: Committing;
  readonly path: Path;
  /** Whether a commit has made a call, or may have. */
  isDone(key: string): boolean;
  /** Collects the outputs that the calls gave here. */
  readonly outputs: Map<MadeCall, JsonValue>;
  readonly call: ActCall;
  /** Performs reversible calls, if there are any. */
  readonly run?: DoOutside | undefined;
}

/**
 * Repeats a path without its irreversible calls, to check that it still has the same results. Returns the data before
 * each call.
 *
 * @throws Halt `stale` or `refused`.
 */
export async function rehearse(rehearsal: Rehearsal): Promise<ReadonlyMap<MadeCall, JsonValue>> {
  const { parts, path, isDone } = rehearsal;
  const all = new Map<MadeCall, JsonValue>();
  const isAsked = askedAgain(rehearsal);
  for (const { calls, before, after } of path.turns) {
    let data = before;
    for (const link of calls) {
      const { call, key } = link;
      if (!isDone(key)) expectPermitted(parts, call, frozen(data));
      const made = [...all.keys()];
      all.set(call, data);
      const tool = parts.tools.get(call.tool);
      if (tool === undefined || !isAsked(link)) continue;
      data = await again(rehearsal, { tool, call, made, data });
    }
    if (!isSame(data, after)) throw staleBy('the data at its end');
  }
  return all;
}

/** The calls to repeat: reads, unless a commit has since changed what they read; and the calls that these depend on. */
function askedAgain({ path: { chain }, isDone }: Rehearsal): (link: ChainedCall) => boolean {
  const places = new Map(chain.map((link, place) => [link.call, place]));
  const since = chain.findLastIndex(({ key, call }) => call.effect !== 'read' && isDone(key));
  const lastRead = chain.findLastIndex(({ call }) => call.effect === 'read');
  return ({ call }) => {
    const place = places.get(call) ?? 0;
    if (call.effect === 'read') return place > since;
    if (call.effect === 'reversible') return place > since && place < lastRead;
    return true;
  };
}

/** Repeats a call; returns the data after it. */
async function again(
  { path, run, outputs, call: surroundings }: Rehearsal,
  {
    tool,
    call,
    made,
    data,
  }: {
    readonly tool: DeclaredTool;
    readonly call: MadeCall;
    readonly made: readonly MadeCall[];
    readonly data: JsonValue;
  },
): Promise<JsonValue> {
  const { input, parsed } = readInput(tool, call);
  const named = { ...surroundings, id: randomUUID() };
  if (call.effect === 'irreversible') {
    const foreseen = await predictTool(tool, { db: frozen(data), parsed }, named);
    if ('output' in foreseen && !isDrift(call, foreseen.output)) outputs.set(call, foreseen.output);
    return 'data' in foreseen ? foreseen.data : data;
  }
  const ran =
    call.effect === 'reversible'
      ? await run?.({ tool, input, parsed }, { origin: path.origin, calls: made, data }, named)
      : await runTool(tool, { db: frozen(data), parsed }, named);
  if (ran === undefined) return data;
  const { output, data: after = data } = unchanged(call, ran);
  outputs.set(call, output);
  return after;
}

/**
 * Repeats the reads of a path in workspaces, each in the state in which it was made, unless a commit has since changed
 * what they read.
 *
 * @param options.isPublished - Whether the changes of the path are in the original already.
 * @param options.expectStart - Throws unless a workspace is one of the same start.
 * @throws Halt `stale`, or `refused` for a read that is no longer permitted
 */
export async function rereadIn(
  workspace: Lending,
  { parts, path: { chain }, isDone, call: surroundings }: Omit<Rehearsal, 'outputs' | 'run'>,
  options: {
    readonly isPublished: boolean;
    readonly expectStart: (place: Workspace) => Promise<void>;
  },
): Promise<void> {
  const { isPublished, expectStart } = options;
  const since = chain.findLastIndex(({ key, call: { effect } }) =>
    effect === 'irreversible' ? isDone(key) : effect !== 'read' && isPublished,
  );
  for (const [place, { call }] of chain.entries()) {
    const tool = parts.tools.get(call.tool);
    if (call.effect !== 'read' || place <= since || tool === undefined) continue;
    const way = isPublished ? [] : chain.slice(0, place).map(({ call: before }) => before);
    await workspace.at(way, surroundings, async (db) => {
      if (!isPublished) await expectStart(db);
      expectPermitted(parts, call, db);
      const { parsed } = readInput(tool, call);
      unchanged(call, await runTool(tool, { db, parsed }, { ...surroundings, id: randomUUID() }));
    });
  }
}

/** The result of a repeated call. @throws Halt `stale` if it is none, or another one than in the search */
function unchanged(call: MadeCall, ran: Ran): Exclude<Ran, { readonly error: string }> {
  if ('error' in ran) {
    const message = `\`${call.tool}\` failed when the path was checked, and nothing was done: ${sentenceOf(ran.error)} Commit again once it works, or search again if it never will.`;
    throw new Halt('stale', message);
  }
  if (isDrift(call, ran.output)) throw staleBy(`\`${call.tool}\` gave another output`);
  return ran;
}

/** The input of a call as parsed by its tool. @throws Halt `stale` */
export function readInput(
  tool: DeclaredTool,
  call: MadeCall,
): { readonly input: JsonValue; readonly parsed: unknown } {
  const checked = tool.check(call.input);
  if ('parsed' in checked) return checked;
  throw staleBy(`\`${call.tool}\` no longer accepts its input (${checked.problem})`);
}

/** @throws Halt `refused`, or `stale` */
export function expectPermitted({ permit, tools }: Committing, call: MadeCall, db: unknown): void {
  const tool = tools.get(call.tool);
  const input = tool === undefined ? call.input : readInput(tool, call).parsed;
  let leave: true | string;
  try {
    leave = permit({ tool: call.tool, input }, db);
  } catch (error) {
    if (EspalierError.isInstance(error)) throw error;
    leave = messageOf(error);
  }
  if (leave === true) return;
  throw new Halt('refused', `\`${call.tool}\` is not permitted: ${sentenceOf(leave)}`);
}

/** Whether an output differs from the one seen or predicted before. */
export function isDrift({ seen }: MadeCall, output: JsonValue): boolean {
  return seen !== undefined && addressOf(output) !== seen;
}

/** Stops a commit whose later calls depend on another output than the one that came. */
export function driftedFrom(
  expected: JsonValue | undefined,
  { tool, effect }: MadeCall,
  output: JsonValue,
): Halt {
  const than = expected === undefined ? 'the expected output' : briefly(expected);
  const advice =
    effect === 'irreversible' && isResult(output)
      ? ' `predict` returns `{ output }`, but `run` returns the output itself.'
      : '';
  return new Halt(
    'drifted',
    `\`${tool}\` was made, and returned ${briefly(output)} instead of ${than}, on which later calls depend.${advice} Search again from how things stand now, or commit again with \`onDrift\`.`,
  );
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return canonicalJson('data', one) === canonicalJson('data', other);
}

function staleBy(what: string): Halt {
  return new Halt(
    'stale',
    `The path no longer has the same results as in the search: ${what}. Search again.`,
  );
}
