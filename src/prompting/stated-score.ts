import type { Completion } from '../contracts/language-model.ts';
import { numberIn } from './read-field.ts';
import { fieldsIn, type Reading, reasonIn, replyText } from './read-reply.ts';

const number =
  /^[*_]{0,2}([-−]?\d+(?:\.\d+)?(?:\s*(?:\/|out of)\s*\d+)?)(?![\p{L}\p{N}%]|[.,]\d|,?\s*(?:\/|out of|-|–|or|to)\s*\d)/iu;
/** *The score is 8*, *I would rate this 8 out of 10*, `\boxed{8}`, and *8 out of 10* as an entire text. */
const statement = new RegExp(
  [
    String.raw`\b(?:score|rating|grade)\s(?:is|would be|of)\s(?:an?\s)?`,
    String.raw`\b(?:rate|give|score|grade)\s(?:it|(?:this|that|the)(?:\s\p{L}{1,20})?)\s(?:at\s|as\s|with\s)?(?:an?\s)?`,
    String.raw`\\boxed\{\s?`,
  ].join('|'),
  'giu',
);
const supposed =
  /\b(?:not|n['’]t|if|whether|cannot|never|could|might|maximum|highest|lowest|other|previous)\b[^.!?\n]*$/iu;
/** Fields that give the scale of a score. */
const scaleFields = ['max', 'maximum', 'maxscore', 'outof', 'scale', 'total'];

/** The score of a reply: in its `score`, as the entire reply, or in a sentence that states it. */
export function scoreIn(
  completion: Completion,
  range: readonly [number, number],
): Reading | undefined {
  const fields = fieldsIn(completion, 'score');
  if (fields === undefined) {
    const score =
      completion.finishReason === 'length' ? undefined : saidScore(replyText(completion), range);
    return score === undefined ? undefined : { score, reason: undefined };
  }
  const score = numberIn(fields['score'], range);
  const isOnAnother = scaleFields.some((name) => {
    const greatest = fields[name];
    return typeof greatest === 'number' && greatest !== range[1];
  });
  return score === undefined || isOnAnother ? undefined : { score, reason: reasonIn(fields) };
}

function saidScore(text: string, range: readonly [number, number]): number | undefined {
  const whole = text.includes('\n') || /^\d+\.\s/.test(text) ? undefined : numberIn(text, range);
  if (whole !== undefined) return whole;
  const scores = new Set<number | undefined>();
  for (const { 0: lead, index } of text.matchAll(statement)) {
    if (supposed.test(text.slice(Math.max(0, index - 80), index))) return undefined;
    const rest = text.slice(index + lead.length, index + lead.length + 40);
    const stated = number.exec(rest)?.[1];
    scores.add(numberIn(stated, range));
  }
  const [score] = scores;
  return scores.size === 1 ? score : undefined;
}
