import { randomUUID } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import { EspalierError } from '../../base/errors.ts';
import { expectFunction } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { messageOf, sentenceOf } from '../../base/failure.ts';
import { frozen } from '../../base/frozen.ts';
import { visible } from '../../base/visible.ts';
import { type Deed, DeedLog } from '../../calls/deeds.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ActCall, Workspace } from '../../contracts/world.ts';
import { SearchTree } from '../../tree/tree.ts';
import { answerOf } from './answer-of.ts';
import {
  type Committing,
  changesIn,
  faultOfBest,
  Halt,
  haltFrom,
  isStale,
  type Lending,
  type Path,
  pathTo,
  publishing,
  publishKey,
  type ToCommit,
} from './commit-path.ts';
import { atRest, type DoOutside } from './outside.ts';
import type { CommitOptions, CommitPlan, Committed, MadeCall } from './plan.ts';
import { recover } from './recover.ts';
import {
  driftedFrom,
  expectPermitted,
  isDrift,
  readInput,
  rehearse,
  rereadIn,
} from './rehearse.ts';
import { follow, lookUp, takeBack } from './reversible.ts';
import { type RunOn, shortened, shownOf } from './running.ts';
import type { DeclaredTool } from './tool.ts';

/** The longest diff that is shown, in characters. */
const longestDiff = 100_000;

const nothingToDo = 'The path changes nothing outside, so there was nothing to do.';

/** A call that a commit makes. */
interface Due {
  readonly call: MadeCall;
  readonly key: string;
  readonly tool: DeclaredTool;
  /** The data before the call. */
  data: JsonValue;
}

/**
 * Carries out the calls on the path to a node. Permanent effects happen only here.
 *
 * @throws EspalierError `usage`, `locked`, `storage` or `invalid-journal`, before anything is done.
 */
export async function commitPath(
  parts: Committing,
  what: ToCommit,
  options: CommitOptions,
): Promise<Committed> {
  expectOptions('commit', options, 'journal approve onUnknown onDrift signal clock');
  const { approve, onUnknown, onDrift } = options;
  for (const [name, asked] of Object.entries({ approve, onUnknown, onDrift })) {
    if (asked !== undefined) expectFunction(name, asked);
  }
  const path = pathTo(what, parts.environment);
  const isFinal = path.chain.some(({ call }) => call.effect === 'irreversible');
  if (isFinal && approve === undefined) {
    const message =
      'The path has a call that cannot be undone, and nothing approves it. Pass `approve` to `commit`.';
    throw new EspalierError('usage', message);
  }
  const commit = new Commit(parts, path, options);
  const fault = what instanceof SearchTree ? faultOfBest(what, path) : undefined;
  if (fault !== undefined) return commit.leave(new Halt('refused', fault));
  const { signal } = commit;
  try {
    return await DeedLog.of(options.journal).inTurn(signal, () => commit.run());
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    return commit.leave();
  }
}

/** A commit in progress. */
class Commit {
  readonly #parts: Committing;
  readonly #path: Path;
  readonly #log: DeedLog;
  readonly #options: CommitOptions;
  readonly #call: ActCall;
  /** The calls to make, in order, including those that an earlier commit has made. */
  readonly #due: Due[];
  /** The outputs that are expected of them, as far as the rehearsal has found them. */
  readonly #outputs = new Map<MadeCall, JsonValue>();

  constructor(parts: Committing, path: Path, options: CommitOptions) {
    this.#parts = parts;
    this.#path = path;
    this.#log = DeedLog.of(options.journal);
    this.#options = options;
    const { signal = new AbortController().signal, clock = systemClock } = options;
    this.#call = { signal, clock, id: '' };
    this.#due = this.#dueOf();
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** Ends it before its turn has come. */
  leave(halt?: Halt): Committed {
    const release = this.#log.hold();
    try {
      return this.#ended(halt ?? this.#aborted());
    } finally {
      release();
    }
  }

  async run(): Promise<Committed> {
    const { workspace, outside } = this.#parts;
    try {
      await this.#recover();
      this.#expectOnePath();
      if (workspace !== undefined) {
        const way = await this.#wayTo(workspace);
        await this.#reread(workspace);
        await workspace.at(way, this.#call, async (place) => {
          for (const { call } of this.#path.chain) expectPermitted(this.#parts, call, place);
          const changes = await this.#changesOf(place);
          await this.#expectStart(place);
          await this.#ask(changes, place);
          await this.#carryOut(place);
        });
      } else if (outside === undefined) {
        await this.#expectStart();
        await this.#rehearse();
        await this.#ask();
        await this.#carryOut();
      } else {
        await this.#expectStart();
        // Trial effects are undone before anybody is asked.
        await outside.at(atRest, this.#call, (run) => this.#rehearse(run));
        await this.#ask();
        await outside.at(atRest, this.#call, () => this.#carryOut());
      }
      const isEmpty = this.#due.length === 0;
      return this.#ended(new Halt('committed', isEmpty ? nothingToDo : ''));
    } catch (error) {
      const halt = haltFrom(error);
      return this.#ended(this.signal.aborted && halt !== error ? this.#aborted() : halt);
    } finally {
      // Later searches must start from the current state.
      await workspace?.close();
    }
  }

  #aborted(): Halt {
    const isBegun = this.#due.some(({ key }) => this.#deedOf(key)?.stage === 'done');
    const why = sentenceOf(messageOf(this.signal.reason));
    return new Halt(isBegun ? 'failed' : 'refused', `The commit was aborted: ${why}`);
  }

  #ended({ status, message }: Halt): Committed {
    const known = this.#due.map(({ call, key }) => ({ call, deed: this.#deedOf(key) }));
    const done = known.filter(({ deed }) => deed?.stage === 'done');
    const open = known.filter((one) => !done.includes(one));
    const { call: begun, deed: left } = open.find(({ deed }) => deed !== undefined) ?? {};
    // A call that was interrupted in an earlier commit stays unknown, whatever ends this one.
    const isCutOff = begun?.effect === 'irreversible' && status !== 'unknown';
    const end = isCutOff
      ? mayHaveHappened(begun, `${earlierEnd(left)} ${message}`)
      : { status, message };
    return frozen({
      status: end.status,
      done: done.map(({ call, deed }) => ({ ...call, fate: 'ran', output: deed?.output ?? null })),
      notDone: open.map(({ call }) => ({ ...call, fate: 'planned' })),
      ...(end.message !== '' && { message: visible(end.message) }),
    });
  }

  /** Whether an earlier commit has published the changes of the path. */
  get #isPublished(): boolean {
    const key = publishKey(this.#path);
    return key !== undefined && this.#deedOf(key)?.stage === 'done';
  }

  /** The calls that bring a workspace to the end of the path; none in a copy of the published original. */
  async #wayTo(workspace: Lending): Promise<readonly MadeCall[]> {
    if (!this.#isPublished) return this.#path.calls;
    await workspace.close();
    return [];
  }

  #reread(workspace: Lending): Promise<void> {
    const isDone = (key: string) => this.#deedOf(key) !== undefined;
    const told = { parts: this.#parts, path: this.#path, isDone, call: this.#call };
    const expectStart = (place: Workspace) => this.#expectStart(place);
    return rereadIn(workspace, told, { isPublished: this.#isPublished, expectStart });
  }

  async #recover(): Promise<void> {
    const { failed } = await recover(this.#parts, this.#log, this.#call);
    if (failed.length > 0) throw new Halt('failed', failed.join(' '));
  }

  #dueOf(): Due[] {
    const { tools, workspace } = this.#parts;
    return this.#path.turns.flatMap(({ calls, before }) =>
      calls.flatMap(({ call, key }) => {
        const tool = tools.get(call.tool);
        const isOutside = workspace === undefined && tool?.undo !== undefined;
        if (tool === undefined || !(isOutside || tool.effect === 'irreversible')) return [];
        return { call, key, tool, data: before };
      }),
    );
  }

  /** The deed that a commit has recorded for a call, if it is still in effect. */
  #deedOf(key: string): Deed | undefined {
    const deeds = this.#log.of(this.#parts.environment);
    const stands = ({ of, stage }: Deed) => of === 'commit' && stage !== 'undone';
    const deed = deeds.findLast((one) => one.key === key && stands(one));
    if (deed?.name !== publishing.name) return deed;
    // A publication followed by another one is no longer in effect.
    const last = deeds.findLast((one) => one.name === publishing.name && stands(one));
    return deed === last ? deed : undefined;
  }

  /** Throws unless the deeds of earlier commits are on the path of this one. */
  #expectOnePath(): void {
    const keys = new Set(this.#path.chain.map(({ key }) => key));
    const other = this.#log
      .of(this.#parts.environment)
      .find(
        ({ of, stage, name, key }) =>
          of === 'commit' && stage !== 'undone' && name !== publishing.name && !keys.has(key),
      );
    if (other === undefined) return;
    throw new Halt(
      'stale',
      `A commit of another path has begun with this journal, and \`${other.name}\` of it is not on this path. Commit what goes on from it, or use another journal.`,
    );
  }

  /**
   * Results found at one start do not apply to another. A commit that has begun continues, whatever it has changed
   * itself.
   */
  async #expectStart(place?: Workspace): Promise<void> {
    const isBegun = this.#due.some(({ key }) => this.#deedOf(key) !== undefined);
    const { originOf } = this.#parts;
    if (isBegun) return;
    if (originOf((await place?.original?.()) ?? null) === this.#path.origin) return;
    const what =
      place === undefined
        ? 'of another environment, task or data'
        : 'of another environment or task, or its files have changed since';
    throw new Halt(
      'stale',
      `The start of the path is ${what}. Search again from how things stand now.`,
    );
  }

  async #rehearse(run?: DoOutside): Promise<void> {
    const isDone = (key: string) => this.#deedOf(key) !== undefined;
    const outputs = this.#outputs;
    const told = { parts: this.#parts, path: this.#path, isDone, outputs, call: this.#call, run };
    const data = await rehearse(told);
    for (const due of this.#due) due.data = data.get(due.call) ?? due.data;
  }

  /** The changes that a workspace would publish. They come first, because publishing may still be refused. */
  async #changesOf(place: Workspace): Promise<JsonValue | undefined> {
    const key = publishKey(this.#path);
    if (key === undefined) return undefined;
    const changes = this.#deedOf(key)?.input ?? (await changesIn(place));
    if (changes === undefined) return undefined;
    const { name: tool, effect } = publishing;
    const call: MadeCall = { tool, input: changes, effect, fate: 'planned' };
    this.#due.unshift({ call, key, tool: publishing, data: null });
    return changes;
  }

  /**
   * Asks first what became of the calls that a killed commit had begun: a call that may already be done must not be put
   * up for approval.
   */
  async #settleUnknown(): Promise<void> {
    for (const { call, key, tool } of this.#due) {
      const earlier = tool.effect === 'irreversible' ? this.#deedOf(key) : undefined;
      if (earlier === undefined || earlier.stage === 'done') continue;
      const answer = await this.#askUnknown(call, earlier);
      if (answer === 'stop') throw mayHaveHappened(call, earlierEnd(earlier));
      if (answer === 'done') this.#log.done(earlier);
    }
  }

  async #ask(changes?: JsonValue, place?: Workspace): Promise<void> {
    await this.#settleUnknown();
    const calls = this.#due
      .filter(({ key }) => this.#deedOf(key)?.stage !== 'done')
      .map(({ call }): MadeCall => ({ ...call, fate: 'planned' }));
    const { turns } = this.#path;
    const [before, after] = [turns[0]?.before ?? null, turns.at(-1)?.after ?? null];
    const { approve } = this.#options;
    const { signal } = this;
    if (calls.length === 0 || approve === undefined) return;
    const diff = changes === undefined ? undefined : await place?.diff?.(changes);
    const plan: CommitPlan = frozen({
      ...{ calls, before, after, ...this.#path.end },
      ...(changes !== undefined && { changes }),
      ...(diff !== undefined && { diff: visible(shortened(diff, longestDiff)) }),
    });
    const refused = (why: string) => new Halt('refused', why);
    const asked = { name: 'approve', answers: [true, false], ask: () => approve(plan), signal };
    const isApproved = await answerOf(asked, refused);
    if (!isApproved) throw refused('It was not approved.');
  }

  async #carryOut(place?: Workspace): Promise<void> {
    for (const due of this.#due) {
      const { call, key } = due;
      this.#call.signal.throwIfAborted();
      const deed = this.#deedOf(key);
      const output = deed?.stage === 'done' ? deed.output : await this.#make(due, deed, place);
      if (due.tool !== publishing) this.#parts.outside?.committed(key);
      if (output === undefined || (await this.#goesOn(due, output))) continue;
      throw driftedFrom(this.#outputs.get(call), call, output);
    }
  }

  /** Whether the calls after this one are made, given its output. */
  async #goesOn(due: Due, output: JsonValue): Promise<boolean> {
    const { call, tool } = due;
    if (!isDrift(call, shownOf(output, tool.maxOutput))) return true;
    const behind = this.#due.slice(this.#due.indexOf(due) + 1);
    if (behind.every(({ key }) => this.#deedOf(key)?.stage === 'done')) return true;
    const { onDrift } = this.#options;
    if (onDrift === undefined) return typeof tool.predict === 'object';
    const answers = ['go on', 'stop'] as const;
    const ask = () => onDrift(frozen(call), frozen(output));
    const asked = { name: 'onDrift', answers, ask, signal: this.signal };
    const drifted = (why: string) => new Halt('drifted', `\`${call.tool}\` was made. ${why}`);
    return (await answerOf(asked, drifted)) === 'go on';
  }

  /** Makes a call, and returns its output if that is known. */
  async #make(
    due: Due,
    earlier: Deed | undefined,
    place: Workspace | undefined,
  ): Promise<JsonValue | undefined> {
    const { call, tool } = due;
    const { parsed } = readInput(tool, call);
    const on = { db: place ?? frozen(due.data), parsed };
    if (tool.effect !== 'irreversible') return this.#makeReversible(due, on, place);
    // Whoever was asked about an earlier run has said that it is to be run.
    const id = earlier?.id ?? randomUUID();
    const deed = this.#begin(due, id);
    try {
      const { ran } = await follow(tool, on, { ...this.#call, id });
      if ('output' in ran) return this.#log.done(deed, ran.whole).output;
      this.#log.failed(deed, ran.error);
      throw mayHaveHappened(call, ran.error);
    } catch (error) {
      throw error instanceof Halt ? error : mayHaveHappened(call, messageOf(error));
    }
  }

  async #askUnknown(call: MadeCall, earlier: Deed): Promise<'done' | 'run' | 'stop'> {
    const { onUnknown } = this.#options;
    if (onUnknown === undefined) return 'stop';
    const answers = ['done', 'run', 'stop'] as const;
    // Prevents it from being run again by mistake.
    const unknown = (why: string) => mayHaveHappened(call, `${earlierEnd(earlier)} ${why}`);
    const ask = () => onUnknown(frozen({ ...call, id: earlier.id }));
    return answerOf({ name: 'onUnknown', answers, ask, signal: this.signal }, unknown);
  }

  async #makeReversible(due: Due, on: RunOn, workspace: Workspace | undefined): Promise<JsonValue> {
    const { call, tool } = due;
    const id = randomUUID();
    const surroundings = { ...this.#call, id };
    const looked = await lookUp(tool, { db: on.db, input: call.input }, surroundings);
    if (looked !== undefined && 'error' in looked) throw failedBy(call, looked.error);
    const deed = this.#begin(due, id, looked?.output);
    try {
      const { ran, hung, cause } = await follow(tool, on, surroundings);
      if ('output' in ran) {
        this.#log.done(deed, ran.whole);
        return ran.whole;
      }
      // While the run is still going, undoing it is useless: the next commit does it.
      if (hung !== undefined) throw mayHaveHappened(call, ran.error);
      const tools = new Map([[tool.name, tool]]);
      await takeBack({ log: this.#log, tools, workspace }, deed, this.#call);
      // A workspace reports this itself, before anything else is done.
      throw tool === publishing && isStale(cause)
        ? new Halt('stale', ran.error)
        : failedBy(call, ran.error);
    } catch (error) {
      throw error instanceof Halt ? error : mayHaveHappened(call, messageOf(error));
    }
  }

  #begin(
    { call: { tool: name, input }, key, data }: Due,
    id: string,
    remembered?: JsonValue,
  ): Deed {
    const { environment } = this.#parts;
    const told = { environment, name, key, id, input, data, remembered };
    return this.#log.begin({ of: 'commit', ...told });
  }
}

/** How an earlier commit left a call, according to its journal. */
function earlierEnd(deed: Deed | undefined): string {
  const { message } = deed ?? {};
  if (message !== undefined) return `an earlier commit failed in it: ${sentenceOf(message)}`;
  return 'an earlier commit was cut off in it, and its journal does not say what came out.';
}

function mayHaveHappened({ tool }: MadeCall, why: string): Halt {
  return new Halt(
    'unknown',
    `\`${tool}\` may have happened, or not: ${sentenceOf(why)} Look there, and commit again with \`onUnknown\`.`,
  );
}

function failedBy({ tool }: MadeCall, why: string): Halt {
  return new Halt('failed', `\`${tool}\` failed, and was taken back: ${sentenceOf(why)}`);
}
