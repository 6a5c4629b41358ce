import * as z from 'zod/mini';
import { EspalierError } from '../base/errors.ts';
import { expectation } from '../base/expect.ts';
import { issueTexts } from '../base/issue-texts.ts';
import { isIntact, seal, stateOfRest, unsealed } from '../base/seal.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { CallSpend } from './call-spend.ts';
import { type JournalLine, journalVersion, type LineOf } from './journal-lines.ts';

/** The result of `JSON.parse` is always JSON; only its absence is an error. */
const json: z.ZodMiniType<JsonValue> = z.custom<JsonValue>(
  (value: unknown) => value !== undefined,
  'expected a JSON value',
);
const count = z.int().check(z.minimum(0));
const spend = z.strictObject({ calls: z.number(), tokens: z.number(), usd: z.number() });
const call = { call: count, key: z.string() };
const settled = { ...call, spend };
const flag = z.optional(z.boolean());

const deed = { type: z.literal('deed'), deed: count };

const deedSchema = z.discriminatedUnion('stage', [
  z.object({
    ...deed,
    stage: z.literal('begin'),
    of: z.enum(['branch', 'commit']),
    environment: z.string(),
    name: z.string(),
    key: z.string(),
    id: z.string(),
    input: json,
    data: z.optional(json),
    remembered: z.optional(json),
  }),
  z.object({ ...deed, stage: z.literal('done'), output: z.optional(json) }),
  z.object({ ...deed, stage: z.literal('failed'), message: z.string() }),
  z.object({ ...deed, stage: z.literal('undone') }),
]);

const lineSchema: z.ZodMiniType<JournalLine> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('journal'), version: count, run: z.record(z.string(), json) }),
  z.object({ type: z.literal('start'), state: z.string() }),
  z.object({
    type: z.literal('intent'),
    ...call,
    kind: z.string(),
    name: z.string(),
    samples: z.optional(z.tuple([count, count])),
    reserved: spend,
    kept: flag,
    request: json,
  }),
  z.object({
    type: z.literal('attempt'),
    ...settled,
    asks: flag,
    reserved: z.optional(spend),
    message: z.string(),
  }),
  z.object({ type: z.literal('grant'), ...call, reserved: spend }),
  z.object({ type: z.literal('result'), ...settled, output: json }),
  z.object({
    type: z.literal('failure'),
    ...settled,
    message: z.string(),
    interrupted: flag,
    unavailable: flag,
    transient: flag,
    abandoned: flag,
  }),
  z.object({
    type: z.literal('resume'),
    call: count,
    lost: spend,
    charged: spend,
    retryFailed: flag,
    differsAt: z.optional(count),
    search: z.optional(count),
  }),
  z.object({ type: z.literal('reuse'), ...call }),
  z.object({
    type: z.literal('retry'),
    call: count,
    all: z.boolean(),
    search: z.optional(count),
  }),
  z.object({
    type: z.literal('deadline'),
    ms: z.number(),
    simulations: count,
    results: count,
    outcomes: z.optional(count),
    search: z.optional(count),
  }),
  deedSchema,
]);

/** The first version whose lines end with a checksum. */
const firstSealed = 3;

/**
 * A line as it is written, without its line break.
 *
 * @throws EspalierError `usage` for anything else: the journal could not be read again.
 */
export function sealLine(line: JournalLine): string {
  const text = JSON.stringify(line) as string | undefined;
  if (!isCommon(line)) {
    const parsed = lineSchema.safeParse(JSON.parse(text ?? 'null'), issueTexts);
    const [issue] = parsed.error?.issues ?? [];
    if (issue !== undefined) {
      const fault = `field \`${issue.path.join('.')}\`: ${issue.message}`;
      throw expectation('line', `a line of a journal (${fault})`, line);
    }
  }
  return seal(text ?? '');
}

/** Reads the lines of one journal, one after another. */
export class LineReader {
  /** Whether its version requires a checksum on every line. */
  #isSealed: boolean | undefined;
  #number = 0;
  readonly #name: string;

  /** @param name - The journal, as the beginning of a sentence. */
  constructor(name = 'The journal') {
    this.#name = name;
  }

  /**
   * The line in these bytes, without its line break; `undefined` for an empty one.
   *
   * @throws EspalierError `invalid-journal`, naming the line.
   */
  read(bytes: Buffer): JournalLine | undefined {
    this.#number += 1;
    if (bytes.length === 0) return undefined;
    const intact = isIntact(bytes);
    if (intact === false || (intact === undefined && this.#isSealed === true)) {
      throw invalid(this.#name, `line ${this.#number} is damaged`);
    }
    const text = intact === true ? unsealed(bytes) : bytes.toString();
    const line = parseLine(text, this.#number, this.#name);
    // A later version may have kinds of lines that this one cannot read, so the header is checked first.
    if (this.#isSealed === undefined) {
      const version = versionOf(line, this.#name);
      this.#isSealed = version >= firstSealed;
      if (this.#isSealed && intact === undefined) throw invalid(this.#name, 'line 1 is damaged');
    }
    return line;
  }

  /**
   * Reads what follows the last line break. An incomplete line was being written when the process died, and is dropped;
   * a complete one only lacks its line break.
   */
  readRest(bytes: Buffer): JournalLine | undefined {
    if (bytes.length === 0) return undefined;
    switch (stateOfRest(bytes)) {
      case 'whole':
        return this.read(bytes);
      case 'damaged':
        throw invalid(this.#name, `line ${this.#number + 1} is damaged`);
      case 'torn':
        return undefined;
    }
  }
}

function parseLine(text: string, number: number, name: string): JournalLine {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw invalid(name, `line ${number} is not JSON`, cause);
  }
  if (isCommon(json)) return json;
  const parsed = lineSchema.safeParse(json, issueTexts);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(
    name,
    `line ${number}, field \`${issue?.path.join('.') ?? ''}\`: ${issue?.message ?? 'unreadable'}`,
    parsed.error,
  );
}

/** Nearly all lines are of these two kinds, and a journal may have millions: they are checked without a copy. */
function isCommon(json: unknown): json is LineOf<'intent' | 'result'> {
  if (typeof json !== 'object' || json === null) return false;
  const line = json as Partial<Omit<LineOf<'intent'>, 'type'> & Omit<LineOf<'result'>, 'type'>> & {
    readonly type?: unknown;
  };
  if (typeof line.key !== 'string' || !isCount(line.call)) return false;
  if (line.type === 'result') return isSpend(line.spend) && line.output !== undefined;
  if (line.type !== 'intent') return false;
  const { kind, samples, name, reserved, request } = line;
  const isNamed = typeof kind === 'string' && typeof name === 'string';
  const isAsked = isNamed && request !== undefined && isSpend(reserved);
  return isAsked && (samples === undefined || isRange(samples));
}

function isRange(samples: unknown): boolean {
  return Array.isArray(samples) && samples.length === 2 && samples.every(isCount);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isSpend(spend: Partial<CallSpend> | undefined): boolean {
  const { calls, tokens, usd } = spend ?? {};
  return Number.isFinite(calls) && Number.isFinite(tokens) && Number.isFinite(usd);
}

function versionOf(header: JournalLine, name: string): number {
  if (header.type !== 'journal') throw invalid(name, 'its first line is not a journal header');
  if (header.version > journalVersion) {
    throw invalid(
      name,
      `it has version ${header.version}, and this espalier reads up to ${journalVersion}; update espalier`,
    );
  }
  return header.version;
}

function invalid(name: string, what: string, cause?: unknown): EspalierError {
  return new EspalierError('invalid-journal', `${name} cannot be read: ${what}.`, { cause });
}
