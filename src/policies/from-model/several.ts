import { failedBy } from '../../base/failure.ts';
import type { Failed, Failure } from '../../contracts/failure.ts';
import type { Completion } from '../../contracts/language-model.ts';
import type { Proposal } from '../../contracts/policy.ts';
import { fromModelPrompts, repairTurns } from './prompts.ts';
import type { ItemReading } from './read.ts';
import type { Dialogue, SampleRange } from './samples.ts';

/** The result of reading a list. */
export interface ListReading<Action> {
  readonly items: readonly ItemReading<Action>[];
  /** Why the list has no more items. */
  readonly failure: Failure | undefined;
}

/** A conversation that asks for all actions of a state at once. */
export interface ListDialogue<Action> extends Omit<Dialogue<Action>, 'read'> {
  /** Reads an answer. */
  readonly read: (completion: Completion) => ListReading<Action>;
}

/**
 * Asks for one completion and returns `count` proposals. Missing items of the list become failures; surplus items are
 * dropped.
 */
export async function proposeSeveral<Action>(
  dialogue: ListDialogue<Action>,
  { offset, count }: SampleRange,
): Promise<readonly Proposal<Action>[]> {
  const { model, settings, context, repair = fromModelPrompts.texts.repair } = dialogue;
  const limits = limitsOf(settings.maxTokens, count);
  let { messages } = dialogue;
  let completion = await ask();
  let reading = dialogue.read(completion);
  for (let repairs = dialogue.repairs; repairs > 0; repairs--) {
    const failure = failureToRepair(reading);
    if (failure === undefined) break;
    messages = [...messages, ...repairTurns(completion, failure, repair)];
    try {
      completion = await ask();
    } catch (error) {
      return missing(count, failedBy(error, 'call', context));
    }
    reading = dialogue.read(completion);
  }
  return proposalsOf(reading, completion, count);

  async function ask(): Promise<Completion> {
    const request = { ...settings, ...limits, messages, samples: 1, offset };
    const { completions } = await context.generate(model, request);
    return completions[0] ?? { text: '' };
  }
}

/** The token limit of a completion, from the limit per action and their number. */
function limitsOf(maxTokens: number | undefined, count: number) {
  return maxTokens === undefined ? {} : { maxTokens: maxTokens * count };
}

/** The failure to send back for repair, if no item is usable and another attempt may help. */
function failureToRepair<Action>({ items, failure }: ListReading<Action>): Failure | undefined {
  const failures = items.flatMap(({ parsed }) => ('failure' in parsed ? [parsed.failure] : []));
  if (failures.length < items.length) return undefined;
  return [...failures, failure].find((reason) => reason !== undefined && reason.kind !== 'empty');
}

function proposalsOf<Action>(
  { items, failure }: ListReading<Action>,
  { callId, finishReason, model }: Completion,
  count: number,
): readonly Proposal<Action>[] {
  const proposals = items.slice(0, count).map(({ text, parsed }): Proposal<Action> => {
    if ('failure' in parsed) return parsed;
    // Log-probabilities cover the whole list, so they belong to none of its items.
    const reason = finishReason === 'length' ? 'stop' : finishReason;
    const completion = {
      text,
      ...(reason !== undefined && { finishReason: reason }),
      ...(model !== undefined && { model }),
      ...(callId !== undefined && { callId }),
    };
    return { action: parsed.action, completion };
  });
  const lacking = count - proposals.length;
  const empty: Failure = {
    kind: 'empty',
    message: `Expected ${count} actions, got ${proposals.length}.`,
  };
  return [...proposals, ...missing(lacking, { failure: failure ?? empty })];
}

function missing(count: number, failed: Failed): readonly Failed[] {
  return Array.from({ length: count }, () => failed);
}
