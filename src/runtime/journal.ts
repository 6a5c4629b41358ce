import { z } from 'zod';
import { EspalierError } from '../spec/errors.ts';
import type { JsonValue } from '../spec/json.ts';
import { canonicalJson, contentAddress } from './canonical-json.ts';
import { addSpend, type CallSpend, nothing } from './ledger.ts';

/** The version of the journal's lines. A journal of a later version is refused. */
export const journalVersion = 2;

/** The first line: what the run was asked to do. */
export interface HeaderLine {
  /** The kind of line. */
  readonly type: 'journal';
  /** The version of the format. */
  readonly version: number;
  /** What the run was asked to do. */
  readonly run: RunIdentity;
}

/** Where the run starts: the content address of its first state. */
export interface StartLine {
  /** The kind of line. */
  readonly type: 'start';
  /** A SHA-256 in base64url. */
  readonly state: string;
}

/** A call is about to start. */
export interface IntentLine {
  /** The kind of line. */
  readonly type: 'intent';
  /** The number of the call in the order of issue. */
  readonly call: number;
  /** The content address of the call. */
  readonly key: string;
  /** What kind of call it is. */
  readonly kind: 'generate' | 'score' | 'decide' | 'embed' | 'effect';
  /** The model or the effect. */
  readonly name: string;
  /** The index of the first sample and how many there are. */
  readonly samples?: readonly [number, number] | undefined;
  /** Its worst case. */
  readonly reserved: CallSpend;
  /** What is asked. */
  readonly request: JsonValue;
}

/** An attempt at a call failed, and the call was tried again; or it took a further request. */
export interface AttemptLine {
  /** The kind of line. */
  readonly type: 'attempt';
  /** The number of the call. */
  readonly call: number;
  /** Its content address. */
  readonly key: string;
  /** What the attempt was charged. */
  readonly spend: CallSpend;
  /** What was set aside for a further request. It counts where the call has no result. */
  readonly reserved?: CallSpend | undefined;
  /** Why it failed, or why another request was needed. */
  readonly message: string;
}

/** A call succeeded. */
export interface ResultLine {
  /** The kind of line. */
  readonly type: 'result';
  /** The number of the call. */
  readonly call: number;
  /** Its content address. */
  readonly key: string;
  /** What it was charged. */
  readonly spend: CallSpend;
  /** What came back. */
  readonly output: JsonValue;
}

/** A call failed. */
export interface FailureLine {
  /** The kind of line. */
  readonly type: 'failure';
  /** The number of the call. */
  readonly call: number;
  /** Its content address. */
  readonly key: string;
  /** What it was charged. */
  readonly spend: CallSpend;
  /** Why it failed. */
  readonly message: string;
  /** Whether the process died in the middle of the call, so that its outcome is unknown. */
  readonly interrupted?: boolean | undefined;
  /** Whether it ended the search, because the model could not be reached. A resumed run asks again. */
  readonly unavailable?: boolean | undefined;
  /** Whether the same may go well later. */
  readonly transient?: boolean | undefined;
}

/** A deadline ended the search here: after so many simulations and results. */
export interface DeadlineLine {
  /** The kind of line. */
  readonly type: 'deadline';
  /** The limit that was met. */
  readonly ms: number;
  /** Simulations started by then. */
  readonly simulations: number;
  /** Results that had taken effect by then. */
  readonly results: number;
}

/** One line of a journal. */
export type JournalLine =
  | HeaderLine
  | StartLine
  | IntentLine
  | AttemptLine
  | ResultLine
  | FailureLine
  | DeadlineLine;

/** What came out of `JSON.parse` is JSON; only its absence is a fault. */
const json: z.ZodType<JsonValue> = z.custom<JsonValue>(
  (value) => value !== undefined,
  'expected a JSON value',
);
const count = z.int().min(0);
const spend = z.strictObject({ calls: z.number(), tokens: z.number(), usd: z.number() });
const settled = { call: count, key: z.string(), spend };

const lineSchema: z.ZodType<JournalLine> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('journal'), version: count, run: z.record(z.string(), json) }),
  z.object({ type: z.literal('start'), state: z.string() }),
  z.object({
    type: z.literal('intent'),
    call: count,
    key: z.string(),
    kind: z.enum(['generate', 'score', 'decide', 'embed', 'effect']),
    name: z.string(),
    samples: z.tuple([count, count]).optional(),
    reserved: spend,
    request: json,
  }),
  z.object({
    type: z.literal('attempt'),
    ...settled,
    reserved: spend.optional(),
    message: z.string(),
  }),
  z.object({ type: z.literal('result'), ...settled, output: json }),
  z.object({
    type: z.literal('failure'),
    ...settled,
    message: z.string(),
    interrupted: z.boolean().optional(),
    unavailable: z.boolean().optional(),
    transient: z.boolean().optional(),
  }),
  z.object({ type: z.literal('deadline'), ms: z.number(), simulations: count, results: count }),
]);

/** What a run was asked to do: a journal belongs to one such run. */
export type RunIdentity = Readonly<Record<string, JsonValue>>;

/** A finished call as a journal holds it. */
export interface RecordedCall {
  /** The place among the results. */
  readonly place: number;
  readonly spend: CallSpend;
  /** What attempts before it were charged. */
  readonly attempts: CallSpend;
  /** What was set aside for further requests. */
  readonly further: CallSpend;
  readonly outcome:
    | { readonly output: JsonValue }
    | Pick<FailureLine, 'interrupted' | 'message' | 'transient' | 'unavailable'>;
  readonly intent: IntentLine | undefined;
}

/** An append-only record of every paid call of one run. */
export interface Journal {
  /** All lines so far, in order. */
  readonly lines: readonly JournalLine[];
  /**
   * `record`: calls that are not in it are made and written down. `replay`: they are refused, and no key
   * and no network is needed.
   */
  readonly mode: 'record' | 'replay';
  /** Writes one line. When it returns, a killed process cannot lose the line. */
  append(line: JournalLine): void;
}

/** A journal in memory: for tests, and for a replay within one process. */
export function memoryJournal(lines: readonly JournalLine[] = []): Journal {
  const all = [...lines];
  return { lines: all, mode: 'record', append: (line) => void all.push(line) };
}

/** Keeps nothing: for a search whose calls nobody asked to be written down. */
export const noJournal: Journal = { lines: [], mode: 'record', append: () => {} };

/** The same journal, read only: a search on it repeats its calls and makes none. */
export function replayed(journal: Pick<Journal, 'lines'>): Journal {
  const { lines } = journal;
  return { lines: [...lines], mode: 'replay', append: () => {} };
}

/** The text of a journal, read. */
export interface ParsedJournal {
  /** Its lines, in order. */
  readonly lines: JournalLine[];
  /** How many bytes of the text they take. */
  readonly bytes: number;
}

/**
 * Reads the text of a journal. A last line that was cut off in the middle of being written is dropped.
 *
 * @throws EspalierError `invalid-journal`, naming the line.
 */
export function parseJournal(text: string): ParsedJournal {
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  const lines: JournalLine[] = [];
  for (const [index, line] of complete.split('\n').entries()) {
    if (line === '') continue;
    const parsed = parseLine(line, index + 1);
    // A later version may have kinds of lines that this one cannot read: the header goes first.
    if (lines.length === 0) expectHeader(parsed);
    lines.push(parsed);
  }
  return { lines, bytes: Buffer.byteLength(complete) };
}

function parseLine(line: string, number: number): JournalLine {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch (cause) {
    throw invalid(`line ${number} is not JSON`, cause);
  }
  const parsed = lineSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(
    `line ${number}, field \`${issue?.path.join('.') ?? ''}\`: ${issue?.message ?? 'unreadable'}`,
    parsed.error,
  );
}

function expectHeader(line: JournalLine): void {
  if (line.type !== 'journal') throw invalid('its first line is not a journal header');
  if (line.version > journalVersion) {
    throw invalid(
      `it has version ${line.version}, and this espalier reads up to ${journalVersion}; update espalier`,
    );
  }
}

function invalid(what: string, cause?: unknown): EspalierError {
  return new EspalierError('invalid-journal', `The journal cannot be read: ${what}.`, { cause });
}

/** Gives an empty journal its header; of one that has a header, makes sure that it is this run's. */
export function beginJournal(journal: Journal, run: RunIdentity): void {
  const [header] = journal.lines;
  if (header === undefined) {
    journal.append({ type: 'journal', version: journalVersion, run: { ...run } });
    return;
  }
  // A replay may ask anything of a journal: which calls it holds decides what can be answered.
  if (journal.mode === 'replay' || header.type !== 'journal') return;
  for (const field of new Set([...Object.keys(run), ...Object.keys(header.run)])) {
    const there = canonicalJson(field, header.run[field] ?? null);
    const here = canonicalJson(field, run[field] ?? null);
    if (there !== here) throw othersRun(`its \`${field}\` is ${there}, this run's is ${here}`);
  }
}

/** The content address of a run's first state. */
export function addressOfStart(state: JsonValue): string {
  return contentAddress(canonicalJson('state', state));
}

/** Writes down where the run starts, or makes sure that the journal's run starts there too. */
export function startJournal(journal: Journal, address: string): void {
  const started = journal.lines.find((line) => line.type === 'start');
  if (started === undefined) journal.append({ type: 'start', state: address });
  else if (journal.mode === 'record' && started.state !== address) {
    throw othersRun('it starts from another state');
  }
}

function othersRun(difference: string): EspalierError {
  return new EspalierError(
    'invalid-journal',
    `The journal belongs to another run: ${difference}. Use another folder, or the same options.`,
  );
}

/** The finished calls of a journal by key, and what others cost. */
export interface JournalIndex {
  readonly calls: ReadonlyMap<string, RecordedCall>;
  /** Keys of calls that were started and have no result. */
  readonly open: ReadonlySet<string>;
  /**
   * What else may have been paid for: what calls without a result had reserved, with their attempts, and
   * what calls cost that are to be made again.
   */
  readonly lost: CallSpend;
  readonly deadlines: readonly DeadlineLine[];
}

/**
 * Sorts the lines of a journal by what they say.
 *
 * @param mode - When recording goes on, calls that found their model unavailable are made again.
 */
export function indexJournal(
  lines: readonly JournalLine[],
  mode: Journal['mode'] = 'record',
): JournalIndex {
  const index = new Indexing(mode);
  for (const line of lines) index.add(line);
  return index.finish();
}

/** What attempts at one call were charged, and what was set aside for further requests. */
interface Attempts {
  readonly spend: CallSpend;
  readonly further: CallSpend;
}

const none: Attempts = { spend: nothing, further: nothing };

/** Reads a journal line by line. */
class Indexing {
  readonly #mode: Journal['mode'];
  readonly #calls = new Map<string, RecordedCall>();
  readonly #intents = new Map<string, IntentLine>();
  readonly #open = new Map<string, IntentLine>();
  readonly #attempts = new Map<string, Attempts>();
  readonly #deadlines: DeadlineLine[] = [];
  #lost: CallSpend = nothing;

  constructor(mode: Journal['mode']) {
    this.#mode = mode;
  }

  add(line: JournalLine): void {
    switch (line.type) {
      case 'deadline':
        this.#deadlines.push(line);
        break;
      case 'intent':
        this.#lose(line.key);
        this.#open.set(line.key, line);
        this.#intents.set(line.key, line);
        break;
      case 'attempt':
        this.#attempt(line);
        break;
      case 'result':
      case 'failure':
        this.#settle(line);
        break;
      case 'journal':
      case 'start':
        break;
    }
  }

  finish(): JournalIndex {
    const open = new Set(this.#open.keys());
    for (const key of open) this.#lose(key);
    return { calls: this.#calls, open, lost: this.#lost, deadlines: this.#deadlines };
  }

  /** A call that was open when its process died may have been paid for, and so may its attempts. */
  #lose(key: string): void {
    const intent = this.#open.get(key);
    if (intent === undefined) return;
    const { spend, further } = this.#takeAttempts(key);
    this.#lost = [intent.reserved, spend, further].reduce(addSpend, this.#lost);
    this.#open.delete(key);
  }

  #attempt({ key, spend, reserved }: AttemptLine): void {
    const before = this.#attempts.get(key) ?? none;
    // What a failed attempt is charged includes its further requests.
    const further = reserved === undefined ? nothing : addSpend(before.further, reserved);
    this.#attempts.set(key, { spend: addSpend(before.spend, spend), further });
  }

  #settle(line: ResultLine | FailureLine): void {
    const { key, spend } = line;
    this.#open.delete(key);
    const { spend: attempts, further } = this.#takeAttempts(key);
    if (line.type === 'failure' && line.unavailable === true && this.#mode === 'record') {
      this.#lost = addSpend(addSpend(this.#lost, spend), attempts);
      return;
    }
    const outcome =
      line.type === 'result'
        ? { output: line.output }
        : {
            message: line.message,
            interrupted: line.interrupted,
            unavailable: line.unavailable,
            transient: line.transient,
          };
    const place = this.#calls.size;
    const intent = this.#intents.get(key);
    this.#calls.set(key, { place, spend, attempts, further, outcome, intent });
  }

  #takeAttempts(key: string): Attempts {
    const attempts = this.#attempts.get(key) ?? none;
    this.#attempts.delete(key);
    return attempts;
  }
}
