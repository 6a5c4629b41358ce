import { addSpend, type CallSpend, nothing } from './call-spend.ts';
import type { Journal } from './journal.ts';
import { type JournalLine, journalVersion, type LineOf } from './journal-lines.ts';

/** How a call ended. Its output is read from the journal when it is asked for. */
export interface RecordedEnd {
  readonly place: number;
  readonly spend: CallSpend;
  readonly failure: Omit<LineOf<'failure'>, 'type' | 'call' | 'key' | 'spend'> | undefined;
}

/** A call as a journal holds it. */
export class RecordedCall {
  readonly key: string;
  /** Where it was asked for; `undefined` where it never was, because a process had died in its middle. */
  readonly place: number | undefined;
  /** How often the journal had been resumed before. */
  readonly resumes: number;
  /** What it asked of the budget beyond its first request: where, what a failed attempt was charged, or what for. */
  attempts:
    | readonly {
        readonly place: number;
        readonly spend: CallSpend;
        /** Whether it asked for another request that counts beside the first. */
        readonly isFurther: boolean;
      }[]
    | undefined;
  end: RecordedEnd | undefined;
  /** What is set aside for what is under way. */
  covered: CallSpend;
  /** Whether its model keeps what it comes to: it is asked again for what it had set aside before. */
  isKept = false;
  /** The same call, made again after the run was resumed. */
  next: RecordedCall | undefined;
  /** The call of an earlier run that answers this one. */
  reused: RecordedCall | undefined;
  /** Whether a failed one was asked for again in the same run. */
  isSuperseded = false;
  /** Whether a line of the journal counts it as lost. */
  isLost = false;

  constructor(
    key: string,
    { place, covered = nothing, resumes }: { place?: number; covered?: CallSpend; resumes: number },
  ) {
    this.key = key;
    this.place = place;
    this.covered = covered;
    this.resumes = resumes;
  }

  /** Whether the journal does not say what became of it. */
  get isHung(): boolean {
    return this.end === undefined || this.end.failure?.abandoned === true;
  }

  /** Whether a line says what it may have cost, although it never ended. */
  get isCounted(): boolean {
    return this.end !== undefined || this.isLost;
  }

  /** What its failed attempts were charged. */
  get attemptsCost(): CallSpend {
    return (this.attempts ?? []).reduce((sum, { spend }) => addSpend(sum, spend), nothing);
  }

  /** What its last attempt was charged; of one without an end, what that may have cost. */
  get lastCost(): CallSpend {
    return this.end?.spend ?? this.covered;
  }

  /** What it is charged in all. */
  get cost(): CallSpend {
    return addSpend(this.attemptsCost, this.lastCost);
  }
}

/** Where a run was resumed, and which calls had been made before that it did not come to by itself. */
export interface RecordedResume extends LineOf<'resume'> {
  readonly place: number;
  /** The how-manieth it is in the journal, from 1. */
  readonly ordinal: number;
  readonly left: LeftCalls;
}

/** What a journal says, in the order in which its last run asked: read once, line by line. */
export class JournalIndex {
  calls: RecordedCall[] = [];
  resumes: readonly RecordedResume[] = [];
  /** Calls that no run came to after the last time it was resumed. */
  left: LeftCalls = new LeftCalls([]);
  retries: readonly LineOf<'retry'>[] = [];
  /** By the search that they ended. */
  readonly deadlines: Map<number, LineOf<'deadline'>> = new Map();
  /** What all calls may have cost. */
  readonly total: CallSpend;
  /** The version of its lines. */
  version: number = journalVersion;
  #first: number | undefined;
  #resumed = 0;
  /** Failed calls by key: few, and the only ones that may be asked for again in one run. */
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

  /** What calls that never ended may have cost, and no line says; what is written down meanwhile is none of it. */
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

  /** Calls are numbered as they are asked for: a number that already exists is one that is asked again. */
  #set(number: number, call: RecordedCall): void {
    this.#first ??= number;
    const there = this.#current(number);
    if (there === undefined) this.calls.push(call);
    else if (there.key === call.key) there.next = call;
    else {
      // Written by somebody who did not repeat what stood there, as version 2 allowed.
      this.#leave(number);
      this.calls.push(call);
    }
  }

  #leave(number: number): void {
    const from = Math.max(0, number - this.first);
    this.left = new LeftCalls([...this.left.calls, ...this.calls.slice(from)]);
    this.calls = this.calls.slice(0, from);
  }

  #intend(place: number, { call, key, reserved, kept }: LineOf<'intent'>): void {
    const failed = this.#failed.get(key);
    if (failed !== undefined) failed.isSuperseded = true;
    const covered = kept === true ? nothing : reserved;
    const made = new RecordedCall(key, { place, covered, resumes: this.#resumed });
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
    // Version 2 wrote the line once the next request had been granted.
    if (this.version < 3) made.covered = addSpend(made.covered, reserved ?? nothing);
    else if (!isFurther) made.covered = { ...nothing, calls: made.covered.calls };
  }

  #end(place: number, line: LineOf<'failure' | 'result'>): void {
    const { key, spend } = line;
    this.#paid = addSpend(this.#paid, spend);
    let call = this.#current(line.call);
    if (call === undefined || call.isCounted || call.key !== key) {
      // An effect whose process had died: it is not asked for again, and has no intent.
      call = new RecordedCall(key, { resumes: this.#resumed });
      this.#set(line.call, call);
    }
    call.end = { place, spend, failure: line.type === 'result' ? undefined : failureOf(line) };
    call.covered = nothing;
    if (line.type === 'failure' && line.abandoned !== true) this.#failed.set(key, call);
  }

  #reuse({ call: number, key }: LineOf<'reuse'>): void {
    const call = new RecordedCall(key, { resumes: this.#resumed });
    // What is asked again may have been so, and answered, before.
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
    // What was resumed went on beyond where it had ended.
    for (const search of this.deadlines.keys()) {
      if (search >= (line.search ?? 0)) this.deadlines.delete(search);
    }
    this.retries = this.retries.filter(({ call }) => call <= line.call);
    this.#resumed += 1;
    const resume = { ...line, place, ordinal: this.#resumed, left: this.left };
    // A run that left its way earlier does not come to where another was resumed later.
    this.resumes = [...this.resumes.filter(({ call }) => call <= line.call), resume];
    this.#failed.clear();
  }
}

function failureOf(line: LineOf<'failure'>): RecordedEnd['failure'] {
  const { type: _type, call: _call, key: _key, spend: _spend, ...failure } = line;
  return failure;
}

/** A call and what became of it each time the run was resumed. */
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

/** Calls that an earlier run has paid for, by what they asked. */
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

  /** What answers a call: the last that brought something, else the last failure that stands. */
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

  /** Whether a call was under way when its process died or its search ended. */
  isOpen(key: string): boolean {
    return this.#lives.get(key)?.some(({ isHung }) => isHung) === true;
  }
}
