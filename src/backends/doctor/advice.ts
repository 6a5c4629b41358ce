import { pricesAsOf } from '../../calls/prices.ts';
import { priceOf } from '../../calls/pricing.ts';
import type { LanguageModel } from '../../contracts/language-model.ts';
import type { Finding } from './examination.ts';

/**
 * How espalier uses a model with these capabilities, and the consequences if its server does not honour them, one
 * sentence each.
 */
export function adviceFor(model: LanguageModel, findings: readonly Finding[]): readonly string[] {
  const isIgnored = (name: string) =>
    findings.some(({ about, outcome }) => about === name && outcome === 'ignored');
  const { n, logprobs, temperature, schema, continuation, seed } = model.capabilities;
  const { thoughtTokens = 0 } = model;
  return [
    n === true
      ? 'Samples of one state are requested together.'
      : 'Of the samples of one state, one is requested first, which fills the prefix cache, and then the others at once.',
    logprobs !== true
      ? 'Judgements are averaged over three answers.'
      : isIgnored('log-probabilities')
        ? 'Judgements would be read from log-probabilities, but none came: set `capabilities: { logprobs: false }`.'
        : 'Judgements are read from log-probabilities: one call of one token each.',
    temperature === true
      ? 'Samples differ by temperature.'
      : "No temperature is sent; ask for several steps in one answer (`form: 'several'`).",
    schema !== true
      ? 'JSON answers are requested in words, and checked.'
      : isIgnored('JSON schema')
        ? 'JSON answers would be constrained to their schema, but it was ignored: set `capabilities: { schema: false }`.'
        : 'JSON answers are constrained to their schema.',
    continuation === true
      ? 'Steps so far can be sent as the beginning of the answer.'
      : 'Steps so far are sent in the question.',
    ...(thoughtTokens === 0
      ? []
      : [
          `It may use ${thoughtTokens} tokens for thoughts in addition to an answer, and a budget must cover them.`,
        ]),
    ...(seed === true ? [] : ['Runs differ from one another; a journal repeats them.']),
    priceLine(model),
  ];
}

function priceLine(model: LanguageModel): string {
  const { price } = model;
  const known = priceOf(model, {}, false);
  if (known === undefined) {
    return 'Its price is unknown: a budget in dollars needs one, as the option `prices`, or as `--price-in` and `--price-out` on the command line.';
  }
  if (known.input === 0 && known.output === 0) return 'It costs nothing.';
  const from = price === undefined ? ` as of ${pricesAsOf}` : '';
  return `It costs $${known.input} per million tokens read and $${known.output} written${from}.`;
}
