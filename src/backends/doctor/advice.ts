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
      ? 'Samples of one state are asked for together, in one request.'
      : 'Samples of one state are asked for one first, which warms the prefix cache, and then the others at once.',
    logprobs !== true
      ? 'Judgements are averaged over three answers.'
      : isIgnored('log-probabilities')
        ? 'Judgements would be read from log-probabilities, but none came: set `capabilities: { logprobs: false }`.'
        : 'Judgements are read from log-probabilities: one call of one token each.',
    temperature === true
      ? 'Samples differ by temperature.'
      : "No temperature is sent; ask for several steps in one answer (`form: 'several'`).",
    schema !== true
      ? 'Answers in JSON are asked for in words, and checked.'
      : isIgnored('JSON schema')
        ? 'Answers in JSON would be bound to their schema, but it was ignored: set `capabilities: { schema: false }`.'
        : 'Answers in JSON are bound to their schema.',
    continuation === true
      ? 'Steps so far can be handed over as the beginning of the answer.'
      : 'Steps so far are told in the question.',
    ...(thoughtTokens === 0
      ? []
      : [
          `It may think in ${thoughtTokens} tokens beside an answer, and a budget has to hold them.`,
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
  return `It costs $${known.input} a million tokens read and $${known.output} written${from}.`;
}
