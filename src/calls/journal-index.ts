import { addSpend, type CallSpend, nothing } from './call-spend.ts';
import type { Journal } from './journal.ts';
import { type JournalLine, journalVersion, type LineOf } from './journal-lines.ts';

/** How a call ended. Its output is read from the journal on demand. */
export interface RecordedEnd {
  readonly place: number;
  readonly spend: CallSpend;
  readonly failure: Omit<LineOf<'failure'>, 'type' | 'call' | 'key' | 'spend'> | undefined;
}

/** A call as recorded in a journal. */
export class RecordedCall {
  readonly key: string;
  /** The position of its intent; `undefined` if it has none, because a process died during the call. */
  readonly place: number | undefined;
  /** How often the journal had been resumed before the call. */
  readonly resumes: number;
  /** The number of the effect that requested it. */
  readonly inside: number | undefined;
  /** Its further requests for budget: the position, and the charge of the failed attempt, if it was one. */
  attempts:
    | readonly {
        readonly place: number;
        readonly spend: CallSpend;
        /** Whether it asked for an additional request rather than for a retry. */
        readonly isFurther: boolean;
      }[]
    | undefined;
  end: RecordedEnd | undefined;
  /** The reservation for the current attempt. */
  covered: CallSpend;
  /** Whether the provider keeps its result: it is repeated with its existing reservation. */
  isKept = false;
  /** The same call, made again after the run was resumed. */
  next: RecordedCall | undefined;
  /** The call of an earlier run that answers this one. */
  reused: RecordedCall | undefined;
  /** Whether it failed and was repeated in the same run. */
  isSuperseded = false;
  /** Whether a line of the journal counts its cost as lost. */
  isLost = false;

  constructor(
    key: string,
    made: {
      readonly place?: number;
      readonly covered?: CallSpend;
      readonly resumes: number;
      readonly inside: number | undefined;
    },
  ) {
    this.key = key;
    this.place = made.place;
    this.covered = made.covered ?? nothing;
    this.resumes = made.resumes;
    this.inside = made.inside;
  }

  /** Whether the journal has no outcome of it. */
  get isHung(): boolean {
    return this.end === undefined || this.end.failure?.abandoned === true;
  }

  /** Whether a line records its possible cost although it never ended. */
  get isCounted(): boolean {
    return this.end !== undefined || this.isLost;
  }

  /** The charges of its failed attempts. */
  get attemptsCost(): CallSpend {
    return (this.attempts ?? []).reduce((sum, { spend }) => addSpend(sum, spend), nothing);
  }

  /** The charge of its last attempt; for a call without an end, its maximum cost. */
  get lastCost(): CallSpend {
    return this.end?.spend ?? this.covered;
  }

  /** Its total charge. */
  get cost(): CallSpend {
    return addSpend(this.attemptsCost, this.lastCost);
  }
}

/** A place where a run was resumed, with the earlier calls that it had not reached by itself. */
export interface RecordedResume extends LineOf<'resume'> {
  readonly place: number;
  /** Its number among the resumes of the journal, from 1. */
  readonly ordinal: number;
  readonly left: LeftCalls;
}

/** The content of a journal, in the order in which its last run made calls. It is read once, line by line. */
export class JournalIndex {
  calls: RecordedCall[] = [];
  resumes: readonly RecordedResume[] = [];
  /** Calls that no run has reached since it was last resumed. */
  left: LeftCalls = new LeftCalls([]);
  retries: readonly LineOf<'retry'>[] = [];
  /** Deadlines by the search that they ended. */
  readonly deadlines: Map<number, LineOf<'deadline'>> = new Map();
  /** The maximum cost of all calls. */
  readonly total: CallSpend;
  /** The version of the format. */
  version: number = journalVersion;
  #first: number | undefined;
  #resumed = 0;
  /** Failed calls by key. They are few, and the only ones that may be repeated within a run. */
  readonly #failed = new Map<string, RecordedCall>();
  #paid: CallSpend = nothing;
  readonly #open: readonly RecordedCall[];

  constructor(lines: Journal['lines']) {
    for (const [place, line] of lines.entries()) this.#add(place, line);
    this.#open = [...this.calls, ...this.left.calls].flatMap(livesOf).filter(isOpen);
    this.total = addSpend(this.#paid, this.lost);
  }

  /** The number of the first call. */
  get first(): number {
    return this.#first ?? 0;
  }

  /** The maximum cost of calls that never ended and are in no other line, not counting calls recorded since. */
  get lost(): CallSpend {
    return this.#open.filter(isOpen).reduce((sum, { covered }) => addSpend(sum, covered), nothing);
  }

  #add(place: number, line: JournalLine): void {
    switch (line.type) {
      case 'journal':
        this.version = line.version;
        break;
      case 'intent':
        this.#intend(place, line);
        break;
      case 'attempt':
        this.#attempt(place, line);
        break;
      case 'grant': {
        const call = this.#current(line.call);
        if (call === undefined) break;
        call.covered = addSpend(call.covered, line.reserved);
        call.isKept = false;
        break;
      }
      case 'result':
      case 'failure':
        this.#end(place, line);
        break;
      case 'resume':
        this.#resume(place, line);
        break;
      case 'reuse':
        this.#reuse(line);
        break;
      case 'retry':
        this.retries = [...this.retries, line];
        break;
      case 'deadline':
        this.deadlines.set(line.search ?? this.deadlines.size, line);
        break;
      case 'start':
      case 'deed':
        break;
    }
  }

  #current(number: number): RecordedCall | undefined {
    let call = this.calls[number - this.first];
    while (call?.next !== undefined) call = call.next;
    return call;
  }

  /** Calls are numbered in the order of requests: a number that already exists is a repeated call. */
  #set(number: number, call: RecordedCall): void {
    this.#first ??= number;
    const there = this.#current(number);
    if (there === undefined) this.calls.push(call);
    else if (there.key === call.key) there.next = call;
    else {
      // Written by a process that did not repeat the record, as version 2 allowed.
      this.#leave(number);
      this.calls.push(call);
    }
  }

  #leave(number: number): void {
    const from = Math.max(0, number - this.first);
    this.left = new LeftCalls([...this.left.calls, ...this.calls.slice(from)]);
    this.calls = this.calls.slice(0, from);
  }

  #intend(place: number, { call, key, inside, reserved, kept }: LineOf<'intent'>): void {
    const failed = this.#failed.get(key);
    if (failed !== undefined) failed.isSuperseded = true;
    const covered = kept === true ? nothing : reserved;
    const made = new RecordedCall(key, { place, covered, resumes: this.#resumed, inside });
    made.isKept = kept === true;
    this.#set(call, made);
  }

  #attempt(place: number, { call, spend, asks, reserved }: LineOf<'attempt'>): void {
    this.#paid = addSpend(this.#paid, spend);
    const made = this.#current(call);
    if (made === undefined) return;
    const isCharged = spend.tokens > 0 || spend.usd > 0 || asks === true;
    if (!isCharged && reserved === undefined) return;
    const isFurther = asks === true ? isNothing(spend) : reserved !== undefined;
    made.attempts = [...(made.attempts ?? []), { place, spend, isFurther }];
    // Version 2 wrote the line after the next request had been granted.
    if (this.version < 3) made.covered = addSpend(made.covered, reserved ?? nothing);
    else if (!isFurther) made.covered = { ...nothing, calls: made.covered.calls };
  }

  #end(place: number, line: LineOf<'failure' | 'result'>): void {
    const { key, spend } = line;
    this.#paid = addSpend(this.#paid, spend);
    let call = this.#current(line.call);
    if (call === undefined || call.isCounted || call.key !== key) {
      // An effect whose process died: it is not repeated, and has no intent.
      call = new RecordedCall(key, { resumes: this.#resumed, inside: line.inside });
      this.#set(line.call, call);
    }
    call.end = { place, spend, failure: line.type === 'result' ? undefined : failureOf(line) };
    call.covered = nothing;
    if (line.type === 'failure' && line.abandoned !== true) this.#failed.set(key, call);
  }

  #reuse({ call: number, key, inside }: LineOf<'reuse'>): void {
    const call = new RecordedCall(key, { resumes: this.#resumed, inside });
    // A repeated call may have been repeated and answered before.
    const there = livesOf(this.calls[number - this.first]);
    call.reused = this.left.answer(key) ?? new LeftCalls(there).answer(key);
    this.#set(number, call);
  }

  #resume(place: number, line: LineOf<'resume'>): void {
    this.#paid = addSpend(this.#paid, line.lost);
    this.#leave(line.call);
    for (const call of [...this.calls, ...this.left.calls].flatMap(livesOf)) {
      if (isOpen(call)) call.isLost = true;
    }
    // The resumed search continued beyond its deadline.
    for (const search of this.deadlines.keys()) {
      if (search >= (line.search ?? 0)) this.deadlines.delete(search);
    }
    this.retries = this.retries.filter(({ call }) => call <= line.call);
    this.#resumed += 1;
    const resume = { ...line, place, ordinal: this.#resumed, left: this.left };
    // A run that diverged earlier never reaches places where another was resumed later.
    this.resumes = [...this.resumes.filter(({ call }) => call <= line.call), resume];
    this.#failed.clear();
  }
}

function failureOf(line: LineOf<'failure'>): RecordedEnd['failure'] {
  const { type: _type, call: _call, key: _key, spend: _spend, ...failure } = line;
  return failure;
}

/** A call and its repetitions after each resume. */
function livesOf(call: RecordedCall | undefined): RecordedCall[] {
  const lives = [];
  for (let life: RecordedCall | undefined = call; life !== undefined; life = life.next) {
    if (life.reused === undefined) lives.push(life);
  }
  return lives;
}

function isOpen({ isCounted }: RecordedCall): boolean {
  return !isCounted;
}

function isNothing({ tokens, usd }: CallSpend): boolean {
  return tokens === 0 && usd === 0;
}

/** Calls paid for by an earlier run, by key. */
export class LeftCalls {
  readonly calls: readonly RecordedCall[];
  readonly #lives = new Map<string, RecordedCall[]>();

  constructor(calls: readonly RecordedCall[]) {
    this.calls = calls;
    for (const life of calls.flatMap((call) => livesOf(call))) {
      const lives = this.#lives.get(life.key);
      if (lives === undefined) this.#lives.set(life.key, [life]);
      else lives.push(life);
    }
  }

  /** The recorded answer to a call: the last success, or else the last failure that stands. */
  answer(
    key: string,
    stands: (failure: NonNullable<RecordedEnd['failure']>) => boolean = () => true,
  ): RecordedCall | undefined {
    const ended = this.#lives.get(key)?.filter(({ end }) => end !== undefined) ?? [];
    const answered = ended.findLast(({ end }) => end?.failure === undefined);
    if (answered !== undefined) return answered;
    return ended.findLast(({ end }) => {
      const failure = end?.failure;
      return failure !== undefined && failure.abandoned !== true && stands(failure);
    });
  }

  /** Whether a call was in flight when its process died or its search ended. */
  isOpen(key: string): boolean {
    return this.#lives.get(key)?.some(({ isHung }) => isHung) === true;
  }
}
