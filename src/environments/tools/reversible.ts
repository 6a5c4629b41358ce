import { messageOf } from '../../base/failure.ts';
import { frozen } from '../../base/frozen.ts';
import type { Deed, DeedLog } from '../../calls/deeds.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ActCall } from '../../contracts/world.ts';
import { type Ran, type RunOn, runTool, shownOf } from './running.ts';
import { type DeclaredTool, readAnew } from './tool.ts';

/** A deed could not be taken back: what it changed stays as it is. */
export class NotTakenBack extends Error {
  override readonly name = 'NotTakenBack';
}

/** How long a run that was given up may take to end, in milliseconds, before nobody waits for it any more. */
const graceMs = 1_000;

/** Looks up what a tool wants to remember. Nothing has happened yet. */
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

/** What came of a run; `hung` is settled when one that was given up has ended all the same, `cause` is what it threw. */
export interface FollowedRun {
  readonly ran:
    | Extract<Ran, { readonly error: string }>
    | {
        /** What the model sees. */
        readonly output: JsonValue;
        /** What came out: `undo` needs all of it. */
        readonly whole: JsonValue;
      };
  readonly hung?: Promise<unknown>;
  readonly cause?: unknown;
}

/** Runs a tool and does not lose sight of it where it is late, or does not heed that the search was aborted. */
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

/** What deeds are taken back with: the tools, and what they work on where that is no data. */
export interface Takers {
  readonly log: DeedLog;
  readonly tools: ReadonlyMap<string, DeclaredTool>;
  readonly workspace?: unknown;
}

/**
 * Takes a deed back, also where the call was aborted.
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
      `\`${name}\` cannot be taken back: no tool of that name has an \`undo\`. Declare it as it was.`,
    );
  }
  const known = {
    ...(remembered !== undefined && { remembered }),
    ...(output !== undefined && { output }),
  };
  // What it returns means nothing.
  const run: DeclaredTool['run'] = async (db, parsed, limited) => {
    await undo(db, parsed, known, limited);
  };
  const on = { db: workspace ?? frozen(data), parsed: readAnew(tool, input) };
  const unhurried = { ...call, id, signal: new AbortController().signal };
  const { ran } = await follow({ ...tool, run }, on, unhurried);
  if (!('error' in ran)) return log.undone(deed);
  log.failed(deed, ran.error);
  throw new NotTakenBack(
    `\`${name}\` could not be taken back: ${ran.error} The outside stays as it is until that succeeds.`,
  );
}

/**
 * Takes back what killed processes have left, the newest first: all that branches have done, and what a commit has begun
 * and not done.
 *
 * @returns how many deeds.
 * @throws NotTakenBack for the first that cannot be: what is older has to wait for it; the reason of the signal.
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

/** The deeds that are to be taken back, the newest first. */
export function deedsLeft(takers: Takers, environment: string): readonly Deed[] {
  return takers.log
    .of(environment)
    .filter((deed) => isLeft(deed, takers))
    .toReversed();
}

function isLeft({ of, stage, name }: Deed, { tools }: Takers): boolean {
  if (stage === 'undone') return false;
  // What a commit has begun for good is a person's to judge.
  return of === 'branch' || (stage !== 'done' && tools.get(name)?.effect !== 'irreversible');
}
