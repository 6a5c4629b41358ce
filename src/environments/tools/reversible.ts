import { messageOf } from '../../base/failure.ts';
import { frozen } from '../../base/frozen.ts';
import type { Deed, DeedLog } from '../../calls/deeds.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ActCall } from '../../contracts/world.ts';
import { type Ran, type RunOn, runTool, shownOf } from './running.ts';
import { type DeclaredTool, readAnew } from './tool.ts';

/** A deed could not be undone: its changes remain. */
export class NotTakenBack extends Error {
  override readonly name = 'NotTakenBack';
}

/** How long an abandoned run may take to end, in milliseconds, before it is no longer waited for. */
const graceMs = 1_000;

/** Looks up what a tool needs to remember for its undo. Nothing has happened yet. */
export async function lookUp(
  tool: DeclaredTool,
  { db, input }: { readonly db: unknown; readonly input: JsonValue },
  call: ActCall,
): Promise<Ran | undefined> {
  const { remember } = tool;
  if (remember === undefined) return undefined;
  const on = { db, parsed: readAnew(tool, input) };
  return runTool({ ...tool, maxOutput: Number.POSITIVE_INFINITY, run: remember }, on, call);
}

/** The result of a run. `hung` settles when an abandoned run has ended after all; `cause` is the error it threw. */
export interface FollowedRun {
  readonly ran:
    | Extract<Ran, { readonly error: string }>
    | {
        /** The output shown to the model. */
        readonly output: JsonValue;
        /** The full output, which `undo` needs. */
        readonly whole: JsonValue;
      };
  readonly hung?: Promise<unknown>;
  readonly cause?: unknown;
}

/** Runs a tool and keeps track of it if it times out or ignores an abort. */
export async function follow(tool: DeclaredTool, on: RunOn, call: ActCall): Promise<FollowedRun> {
  let running: unknown;
  const followed: DeclaredTool = {
    ...tool,
    maxOutput: Number.POSITIVE_INFINITY,
    run: (...given) => {
      running = tool.run(...given);
      return running;
    },
  };
  let ran: Ran;
  try {
    ran = await runTool(followed, on, call);
  } catch (reason) {
    ran = { error: messageOf(reason) };
  }
  if (!('error' in ran)) {
    const whole = ran.output;
    return { ran: { output: shownOf(whole, tool.maxOutput), whole } };
  }
  let cause: unknown;
  const ended = Promise.resolve(running).catch((thrown: unknown) => {
    cause = thrown;
  });
  return (await isOver(ended, call)) ? { ran, cause } : { ran, hung: ended };
}

async function isOver(ended: Promise<unknown>, { clock }: ActCall): Promise<boolean> {
  const waiting = new AbortController();
  const late = clock.sleep(graceMs, waiting.signal).then(
    () => false,
    () => false,
  );
  const over = await Promise.race([ended.then(() => true), late]);
  waiting.abort();
  return over;
}

/** The means of undoing deeds: the tools, and what they work on, unless that is data. */
export interface Takers {
  readonly log: DeedLog;
  readonly tools: ReadonlyMap<string, DeclaredTool>;
  readonly workspace?: unknown;
}

/**
 * Undoes a deed, even if the call was aborted.
 *
 * @throws NotTakenBack, or an EspalierError `storage`.
 */
export async function takeBack(
  { log, tools, workspace }: Takers,
  deed: Deed,
  call: ActCall,
): Promise<void> {
  const { name, input, data, remembered, output, id } = deed;
  const tool = tools.get(name);
  const { undo } = tool ?? {};
  if (tool === undefined || undo === undefined) {
    throw new NotTakenBack(
      `\`${name}\` cannot be undone: no tool of that name has an \`undo\`. Declare it as before.`,
    );
  }
  const known = {
    ...(remembered !== undefined && { remembered }),
    ...(output !== undefined && { output }),
  };
  // Its return value is ignored.
  const run: DeclaredTool['run'] = async (db, parsed, limited) => {
    await undo(db, parsed, known, limited);
  };
  const on = { db: workspace ?? frozen(data), parsed: readAnew(tool, input) };
  const unhurried = { ...call, id, signal: new AbortController().signal };
  const { ran } = await follow({ ...tool, run }, on, unhurried);
  if (!('error' in ran)) return log.undone(deed);
  log.failed(deed, ran.error);
  throw new NotTakenBack(
    `\`${name}\` could not be taken back: ${ran.error} Nothing else can change the outside world until that succeeds.`,
  );
}

/**
 * Undoes what killed processes have left, newest first: all deeds of branches, and unfinished deeds of commits.
 *
 * @returns the number of deeds.
 * @throws NotTakenBack for the first that cannot be undone, because older ones must wait for it; the reason of the
 * signal.
 */
export async function takeBackLeft(
  takers: Takers,
  environment: string,
  call: ActCall,
): Promise<number> {
  const left = deedsLeft(takers, environment);
  for (const deed of left) {
    call.signal.throwIfAborted();
    await takeBack(takers, deed, call);
  }
  return left.length;
}

/** The deeds to undo, newest first. */
export function deedsLeft(takers: Takers, environment: string): readonly Deed[] {
  return takers.log
    .of(environment)
    .filter((deed) => isLeft(deed, takers))
    .toReversed();
}

function isLeft({ of, stage, name }: Deed, { tools }: Takers): boolean {
  if (stage === 'undone') return false;
  // An irreversible deed begun by a commit must be judged by a person.
  return of === 'branch' || (stage !== 'done' && tools.get(name)?.effect !== 'irreversible');
}
