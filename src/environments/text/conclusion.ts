import { answerInClaim, longest } from './answer-claim.ts';
import { numberInSentence } from './answer-in-prose.ts';
import { languages } from './answer-languages.ts';
import { isQuantity } from './answer-value.ts';

/** The beginnings of a conclusion. */
const therefore =
  /^[*_#>\s]{0,6}(?:(?:(?:and\s)?(?:therefore|hence|thus|so(?! (?:far|many|much|that|long))|then|consequently|altogether|finally|also|somit|daher|donc)|in (?:conclusion|total|summary|all)|this means(?: that)?)\b,?\s{1,3}|(?:∴|=>|⇒|->|→|所以|因此)\s{0,3}){1,2}/iu;
/** Words that make a last sentence a condition, a plan, a doubt or an intermediate result. */
const open =
  /[?？]|\b(?:if|whether|assum\p{L}*|suppos\p{L}*|let|perhaps|maybe|might|could|would|should|not|never|now|next|still|first|second|third|step|part|so far|but|however|although|though|except|forgot|either|answers?|guess|previous\p{L}*|initial\p{L}*|remember|recall|given)\b|n['’]t\b/iu;
const bound = /\b(?:about|around|at|more|less|fewer|than|between|or|and|other)\b/iu;
const value = String.raw`([-−$€£¥₹\\(\[]{0,3}\d.{0,60}|\$?\\[dt]?frac.{0,60})`;
/** *The value of x is 18*, *the total comes to $18*, *there are 15 primes below 50*, *x = 18*, *18 it is*. */
const claims = [
  new RegExp(
    String.raw`^(?:the|das|le|la)\s[^.!?;:=]{2,80}?\s(?:is|are|equals|comes\sto|amounts\sto|ist|lautet|beträgt|est)\s${value}$`,
    'iu',
  ),
  new RegExp(String.raw`^(?:\$|\\\()?[a-zA-Z](?:_\w)?\s?=\s?${value}$`, 'u'),
  /^([-−$€£]{0,2}\d[\d.,]{0,30}%?)\sit is$/iu,
];
const counted = /^there\s(?:are|is)\s(\d[\d.,]{0,20})\s\p{L}[^.!?;:=,]{0,80}$/iu;
const option = /^(?:option|choice|answer)\s\(?([A-J])\)?\sis\s(?:the\s)?(?:correct|right|best)\b/iu;

/** The number or letter that the last sentence of a text concludes, if it does not state an answer explicitly. */
export function conclusionIn(text: string): string | undefined {
  const [, alone] = /^[\s*_]*([A-J]|[Yy]es|[Nn]o)[\s*_.]*$/.exec(text) ?? [];
  if (alone !== undefined) return alone;
  const sentence = lastSentence(text);
  if (sentence === undefined) return undefined;
  const [, letter] = option.exec(sentence) ?? [];
  if (letter !== undefined) return letter;
  const lead = therefore.exec(sentence)?.[0] ?? '';
  const claim = sentence.slice(lead.length);
  if (open.test(claim)) return undefined;
  const named = claims.flatMap((pattern) => pattern.exec(claim)?.[1] ?? [])[0];
  if (named !== undefined) return quantityIn(named, claim);
  if (lead === '' || bound.test(claim)) return undefined;
  return counted.exec(claim)?.[1] ?? numberInSentence(claim) ?? quantityIn(claim, claim);
}

function quantityIn(named: string, claim: string): string | undefined {
  const [english, german, french] = languages;
  const language = /^das\b/i.test(claim) ? german : /^l[ea]\b/i.test(claim) ? french : english;
  // In `$x = 18$`, the second dollar sign remains.
  const value = named.split('$').length === 2 ? named.replace(/\$$/, '') : named;
  const answer = language && answerInClaim(value.replace(/\\\)$/, ''), language);
  return answer !== undefined && isQuantity(answer) ? answer : undefined;
}

/** The last sentence of the last line, without Markdown marks and final punctuation. */
function lastSentence(text: string): string | undefined {
  const end = text.slice(-4 * longest).trimEnd();
  const line = end.slice(end.lastIndexOf('\n') + 1);
  const sentence = line
    .split(/(?<=[.!?])\s{1,3}(?=[\p{Lu}\\$∴])(?<!\b(?:St|Mr|Mrs|Dr|approx|ca)\.\s)/u)
    .at(-1)
    ?.replace(/\*\*|__/g, '')
    .replace(/[\s.!。]+$/u, '')
    .trim();
  return sentence === undefined || sentence === '' || sentence.length > longest
    ? undefined
    : sentence;
}
