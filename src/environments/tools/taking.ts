import { EspalierError } from '../../base/errors.ts';
import { wrongResult, wrongValue } from '../../base/expect.ts';
import { sentenceOf } from '../../base/failure.ts';
import { frozen } from '../../base/frozen.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { JsonValue, MaybePromise } from '../../contracts/json.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { ActCall } from '../../contracts/world.ts';
import { complaintOf } from './complaint.ts';
import type { Done, Ground, Outcome, Place } from './grounds.ts';
import { addressOf, type MadeCall, type Wanted } from './plan.ts';
import { askForOutput } from './prediction.ts';
import { predictTool } from './running.ts';
import type { AnyCall, Telling, ToolState } from './state.ts';
import { type Asked, readAnew } from './tool.ts';
import type { Toolbox } from './toolbox.ts';

/** The parts of an environment needed to make calls. */
export interface Workshop {
  readonly name: string;
  readonly box: Toolbox;
  readonly telling: Telling;
  /** Where pure tools work. */
  readonly inside: Ground;
  /** Where all other tools work. */
  readonly outside: Ground;
  readonly permit?: ((call: Wanted, db: unknown) => boolean | string) | undefined;
  readonly done?:
    | ((db: unknown, output?: JsonValue) => MaybePromise<boolean | number | 'failed'>)
    | undefined;
  readonly onError: 'tell' | 'fail';
}

/** The progress of a turn. */
export interface Progress
  extends Pick<ToolState, 'answer' | 'calls' | 'data' | 'ended' | 'origin'> {
  /** The reward if nothing is left to do, or that the task can no longer succeed. */
  readonly done?: Done | undefined;
}

/** The result of a call, including what the model sees. */
export interface Took extends Progress {
  readonly observation: string;
}

/** The progress of the turn before a call, and the conversation so far. */
export interface Within {
  readonly at: Progress;
  readonly conversation: readonly Message[];
  readonly context: CallContext;
}

const planned = 'Planned: it is carried out when the work is committed.';

/** Makes one call of a turn, as far as a branch may. */
export async function take(shop: Workshop, call: AnyCall, within: Within): Promise<Took> {
  const { at } = within;
  const understood = shop.box.understand(call);
  if ('answer' in understood) {
    const { answer } = understood;
    return { ...at, answer, ended: 'answered', observation: 'The answer is given.' };
  }
  if ('invalid' in understood) {
    const { tool, input, problem } = understood.invalid;
    const effect = shop.box.tools.get(tool)?.effect ?? 'pure';
    return failed(shop.onError, { made: { tool, input, effect }, error: problem, at });
  }
  const { effect } = understood.tool;
  if (effect === 'read' && at.calls.some(isUnforeseen)) {
    const observation = 'Not known before the planned calls are carried out.';
    return { ...at, ended: 'pending', observation };
  }
  const find = effect === 'irreversible' ? foresee : run;
  const outcome =
    (await refusedFirst(shop, understood, within)) ?? (await find(shop, understood, within));
  return settled(shop, understood, { at, outcome });
}

/** Whether the outcome of a call is unknown. */
function isUnforeseen({ fate, seen }: MadeCall): boolean {
  return fate === 'planned' && seen === undefined;
}

/** Refuses a call that the data do not permit: it costs nothing, and does not wait for the outside world. */
async function refusedFirst(
  shop: Workshop,
  called: Asked,
  { at, context }: Within,
): Promise<Outcome | undefined> {
  const { tool, input } = called;
  const { inside: ground } = shop;
  if (shop.permit === undefined || ground.isLive) return undefined;
  const version = shop.telling.version({ ...at, calls: [] });
  const asked = { name: `${tool.name}.permit`, version, input, free: true };
  const outcome = await there(shop, { ...asked, ground, at, context }, async (place) => {
    const refused = refusalOf(shop, called, place.db());
    return refused === undefined ? { output: null } : { refused };
  });
  return 'refused' in outcome ? outcome : undefined;
}

async function run(shop: Workshop, called: Asked, { at, context }: Within): Promise<Outcome> {
  const { tool, input } = called;
  const isInside = tool.effect === 'pure';
  const ground = isInside ? shop.inside : shop.outside;
  const free = isInside && !ground.isLive;
  // The result of a pure tool depends only on the data, unless it works in a workspace.
  const version = free ? { ...at, calls: [] } : at;
  const asked = { name: tool.name, version: shop.telling.version(version), input, free };
  return there(shop, { ...asked, ground, at, context }, async (place, call) => {
    const refused = refusedThere(shop, called, place);
    if (refused !== undefined) return refused;
    const ran = await place.run(called, call);
    if ('error' in ran) return ran;
    const fingerprint = tool.effect === 'read' ? undefined : await place.fingerprint?.();
    const isChanged = isInside && !ground.isLive ? ran.data !== undefined : tool.effect !== 'read';
    return {
      ...ran,
      ...(fingerprint !== undefined && { fingerprint }),
      ...(isChanged && (await doneOf(shop, { place, signal: call.signal }, ran))),
    };
  });
}

/** The prediction for a call that only a commit makes. */
async function foresee(
  shop: Workshop,
  called: Asked,
  { at, conversation, context }: Within,
): Promise<Outcome> {
  const { tool, input, parsed } = called;
  const { predict, name } = tool;
  const isRule = typeof predict === 'function';
  let outcome: Outcome = { unforeseen: true };
  const ground = shop.outside;
  if (isRule || (ground.isLive && shop.permit !== undefined)) {
    const version = shop.telling.version(at);
    const asked = { name: `${name}.${isRule ? 'predict' : 'permit'}`, version, input };
    const errand = { ...asked, free: !isRule, ground, at, context };
    outcome = await there(shop, errand, async (place, call) => {
      const refused = refusedThere(shop, called, place);
      if (refused !== undefined) return refused;
      if (!isRule) return { unforeseen: true };
      const ran = await predictTool(tool, { db: place.db(), parsed }, call);
      if ('error' in ran || ran.data === undefined) return ran;
      if (ground.isLive)
        return { error: 'It returned a state, but here the state is in a workspace.' };
      return { ...ran, ...(await doneOf(shop, { place, signal: call.signal }, ran)) };
    });
  }
  if (!('unforeseen' in outcome) || typeof predict !== 'object') return outcome;
  return askForOutput(tool, { model: predict.model, input, conversation }, context);
}

/** The state before any call: the original of the workspaces, and the result of `done`. */
export async function startOf(
  shop: Workshop,
  within: Pick<Within, 'at' | 'context'>,
): Promise<{ readonly original: JsonValue; readonly done: Done }> {
  const ground = shop.inside;
  if (shop.done === undefined && !ground.isLive) return { original: null, done: 0 };
  const version = shop.telling.version(within.at);
  const free = shop.done === undefined || !ground.isLive;
  const asked = { ...within, name: 'start', version, input: null, free, ground };
  const outcome = await there(shop, asked, async (place, { signal }) => ({
    output: (await place.original?.()) ?? null,
    ...(await doneOf(shop, { place, signal }, {})),
  }));
  return { original: 'output' in outcome ? outcome.output : null, done: outcome.done ?? 0 };
}

interface Errand extends Pick<Within, 'at' | 'context'> {
  readonly name: string;
  readonly ground: Ground;
  readonly version: string;
  readonly input: JsonValue;
  readonly free: boolean;
}

/** Runs something with the world in the state at that point of the turn, once for equal inputs and worlds. */
async function there(
  { name: environment }: Workshop,
  { name, version, input, free, ground, at, context }: Errand,
  use: (place: Place, call: ActCall) => Promise<Outcome>,
): Promise<Outcome> {
  const effect = { name: `${environment}.${name}`, repeatable: true, pure: true, free };
  const id = addressOf([effect.name, version, input]);
  const outcome = await context.effect(effect, { version, input }, async ({ signal, clock }) => {
    const call = { signal, clock, id };
    try {
      return await ground.at(at, call, (place) => use(place, call));
    } catch (error) {
      // Returned as a result, so that a replay can distinguish it too.
      if (EspalierError.isInstance(error) && error.code === 'stale')
        return { stale: error.message };
      throw error;
    }
  });
  if ('stale' in outcome) throw new EspalierError('stale', outcome.stale);
  return outcome;
}

/** The refusal of a call in a workspace, which must be lent first. */
function refusedThere(shop: Workshop, called: Asked, place: Place): Outcome | undefined {
  if (!shop.inside.isLive) return undefined;
  const refused = refusalOf(shop, called, place.db());
  return refused === undefined ? undefined : { refused };
}

function refusalOf(shop: Workshop, { tool, input }: Asked, db: unknown): string | undefined {
  if (shop.permit === undefined) return undefined;
  return refusal(shop, { tool: tool.name, input: readAnew(tool, input) }, db);
}

/** Why a call is not permitted. */
export function refusal(
  { name, permit }: Workshop,
  { tool, input }: Wanted,
  db: unknown,
): string | undefined {
  let told: unknown = true;
  try {
    if (permit !== undefined) told = permit({ tool, input }, db);
  } catch (thrown) {
    throw thrownBy(`\`permit\` of \`${name}\``, thrown);
  }
  if (typeof told === 'string') return told;
  if (typeof told === 'boolean') return told ? undefined : 'This call is not permitted.';
  throw wrongResult('permit', told, { returns: 'true, false or a text', scope: 'item' });
}

/** An exception from a function of the environment, with its name; errors with a scope stay unchanged. */
function thrownBy(what: string, thrown: unknown): unknown {
  if (EspalierError.isInstance(thrown)) return thrown;
  return new Error(`${what} threw. ${complaintOf(thrown)}`, { cause: thrown });
}

async function doneOf(
  { name, done }: Pick<Workshop, 'done' | 'name'>,
  { place, signal }: { readonly place: Place; readonly signal: AbortSignal },
  { data, output }: { readonly data?: JsonValue; readonly output?: JsonValue },
): Promise<{ readonly done?: Done }> {
  if (done === undefined) return {};
  const before = await place.fingerprint?.();
  let told: unknown;
  try {
    told = await done(data === undefined ? place.db() : frozen(data), output);
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrownBy(`\`done\` of \`${name}\``, thrown);
  }
  if ((await place.fingerprint?.()) !== before) place.giveUp?.();
  return { done: readDone(told) };
}

function readDone(told: unknown): Done {
  if (told === 'failed') return told;
  const reward = typeof told === 'boolean' ? Number(told) : told;
  if (typeof reward === 'number' && reward >= 0 && reward <= 1) return reward;
  throw wrongValue('done', "true, false, 'failed' or a number from 0 to 1", told);
}

function settled(
  { onError }: Workshop,
  { tool, input }: Asked,
  { at, outcome }: { readonly at: Progress; readonly outcome: Outcome },
): Took {
  const { name, effect } = tool;
  const made = { tool: name, input, effect };
  const and = (call: MadeCall) => ({ ...at, calls: [...at.calls, call] });
  if ('refused' in outcome) {
    const { refused } = outcome;
    const told = and({ ...made, fate: 'refused', seen: addressOf(refused) });
    return { ...told, observation: marked('error', refused) };
  }
  const isPlanned = effect === 'irreversible';
  const behind = {
    ...('data' in outcome && { data: frozen(outcome.data) }),
    ...(outcome.done !== undefined && { done: outcome.done }),
  };
  if (isPlanned && !('output' in outcome)) {
    const why = 'error' in outcome ? ` (\`predict\` of \`${name}\` failed: ${outcome.error})` : '';
    const observation = `${planned} What it gives back is not known before${why}.`;
    return { ...and({ ...made, fate: 'planned' }), ...behind, observation };
  }
  if (!('output' in outcome)) {
    const error = 'error' in outcome ? outcome.error : '';
    return failed(onError, { made, error, at });
  }
  const { output, fingerprint } = outcome;
  const shown = marked('output', textOf(output));
  return {
    ...and({
      ...made,
      fate: isPlanned ? 'planned' : 'ran',
      seen: addressOf(output),
      ...(fingerprint !== undefined && { fingerprint }),
    }),
    ...behind,
    observation: isPlanned ? `${planned} It is expected to give back:\n${shown}` : shown,
  };
}

/** The failure of a call, as an observation for the model or as a failure of the child. */
function failed(
  onError: Workshop['onError'],
  told: {
    readonly made: Omit<MadeCall, 'fate' | 'seen'>;
    readonly error: string;
    readonly at: Progress;
  },
): Took {
  const { made, error, at } = told;
  if (onError === 'fail') throw new Error(`\`${made.tool}\` failed. ${sentenceOf(error)}`);
  const call: MadeCall = { ...made, fate: 'failed', seen: addressOf(error) };
  return { ...at, calls: [...at.calls, call], observation: marked('error', error) };
}

/** Foreign text, marked as such: it cannot contain the end of the mark. */
function marked(mark: 'error' | 'output', text: string): string {
  return `<${mark}>\n${text.replace(/<\/(?=output|error)/gi, '<\\/')}\n</${mark}>`;
}

function textOf(output: JsonValue): string {
  if (output === null || output === '') return '(nothing)';
  return typeof output === 'string' ? output : JSON.stringify(output);
}
