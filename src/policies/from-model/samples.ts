import { failedBy } from '../../base/failure.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Parsed } from '../../contracts/environment.ts';
import type { Failure } from '../../contracts/failure.ts';
import type {
  Completion,
  GenerateRequest,
  LanguageModel,
  Message,
} from '../../contracts/language-model.ts';
import type { Proposal } from '../../contracts/policy.ts';
import { withInstruction } from '../../prompting/prompt-parts.ts';
import { outcomeOf, proposalsOfEach } from '../outcomes.ts';
import { fromModelPrompts, repairTurns } from './prompts.ts';

/** Settings common to all requests of a policy. */
export type Settings = Omit<GenerateRequest, 'messages' | 'samples' | 'offset'>;

/** A conversation about one state. */
export interface Dialogue<Action> {
  readonly model: LanguageModel;
  readonly settings: Settings;
  readonly context: CallContext;
  /** The question, in the requested form. */
  readonly messages: readonly Message[];
  /** How often an answer may be sent back. */
  readonly repairs: number;
  /** The text with which it is sent back. @defaultValue those that come with `fromModel` */
  readonly repair?: string;
  /** Reads an answer. */
  readonly read: (completion: Completion) => Parsed<Action>;
}

/** The samples to draw. */
export interface SampleRange {
  /** The index of the first sample. */
  readonly offset: number;
  /** Their number. */
  readonly count: number;
}

/** Draws samples and returns one proposal for each, in order. */
export async function proposeSamples<Action>(
  dialogue: Dialogue<Action>,
  { offset, count }: SampleRange,
): Promise<readonly Proposal<Action>[]> {
  const { model, settings, context, messages, repairs } = dialogue;
  const request = { ...settings, messages, samples: count, offset };
  const { completions } = await context.generate(model, request);
  return Promise.all(
    completions.map((completion, place) =>
      readOrRepair(dialogue, { messages, completion, index: offset + place, repairs }),
    ),
  );
}

/**
 * Like {@link proposeSamples}, with the instruction `i mod v` of `v` for sample `i`. Samples with the same instruction
 * belong to one request. The first request warms the prefix cache for the others.
 */
export async function proposeVaried<Action>(
  dialogue: Dialogue<Action>,
  range: SampleRange,
  instructions: readonly string[],
): Promise<readonly Proposal<Action>[]> {
  const tasks = groupsOf(range, instructions.length).map(({ turn, offset, count }) => {
    const messages = withInstruction(dialogue.messages, instructions[turn] ?? '');
    const ask = () => proposeSamples({ ...dialogue, messages }, { offset, count });
    return { count, ask };
  });
  const [first, ...others] = tasks;
  const { context } = dialogue;
  const warming = first === undefined ? [] : [await outcomeOf(first, context)];
  const rest = await Promise.all(others.map((task) => outcomeOf(task, context)));
  return interleaved(proposalsOfEach([...warming, ...rest]));
}

interface Group extends SampleRange {
  /** The index of the instruction. */
  readonly turn: number;
}

/** Groups the samples of a range by instruction, ordered by their first samples. */
function groupsOf({ offset, count }: SampleRange, turns: number): readonly Group[] {
  return Array.from({ length: Math.min(turns, count) }, (_, place) => {
    const index = offset + place;
    return {
      turn: index % turns,
      offset: Math.floor(index / turns),
      count: Math.ceil((count - place) / turns),
    };
  });
}

/** Takes one item of each list in turn. Only the last lists may be shorter, by one. */
function interleaved<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = lists[0]?.length ?? 0;
  return Array.from({ length: longest }, (_, place) =>
    lists.flatMap((list) => list.slice(place, place + 1)),
  ).flat();
}

interface Answer {
  readonly messages: readonly Message[];
  readonly completion: Completion;
  /** The index of the sample, which stays the same in its repairs. */
  readonly index: number;
  readonly repairs: number;
}

async function readOrRepair<Action>(
  dialogue: Dialogue<Action>,
  { messages, completion, index, repairs }: Answer,
): Promise<Proposal<Action>> {
  const parsed = dialogue.read(completion);
  if ('action' in parsed && (parsed.problem === undefined || repairs === 0)) {
    return { action: parsed.action, completion };
  }
  const failure = failureIn(parsed);
  if (repairs === 0 || failure.kind === 'empty') return { failure };
  const { model, settings, context, repair = fromModelPrompts.texts.repair } = dialogue;
  const turns = [...messages, ...repairTurns(completion, failure, repair)];
  try {
    const request = { ...settings, messages: turns, samples: 1, offset: index };
    const [repaired = completion] = (await context.generate(model, request)).completions;
    const answer = { messages: turns, completion: repaired, index, repairs: repairs - 1 };
    return await readOrRepair(dialogue, answer);
  } catch (error) {
    return failedBy(error, 'call', context);
  }
}

/** What is wrong with an answer: it cannot be read, or its action has no effect. */
function failureIn<Action>(parsed: Parsed<Action>): Failure {
  if ('failure' in parsed) return parsed.failure;
  return { kind: 'parse', message: parsed.problem ?? '' };
}
