import { pricesAsOf } from '../../calls/prices.ts';
import { priceOf } from '../../calls/pricing.ts';
import type { LanguageModel } from '../../contracts/language-model.ts';
import type { Finding } from './examination.ts';

/**
 * How espalier uses a model with these capabilities, and the consequences if its server does not honour them, one
 * sentence each.
 */
export function adviceFor(model: LanguageModel, findings: readonly Finding[]): readonly string[] {
  const outcomeOf = (name: string) => findings.find(({ about }) => about === name)?.outcome;
  const { n, logprobs, temperature, schema, continuation, seed, tools } = model.capabilities;
  const { thoughtTokens = 0 } = model;
  return [
    n === true
      ? 'Samples of one state are requested together.'
      : 'Of the samples of one state, one is requested first, which fills the prefix cache, and then the others at once.',
    judgementLine(logprobs, outcomeOf('log-probabilities')),
    temperature === true
      ? 'Samples differ by temperature.'
      : "No temperature is sent; ask for several steps in one answer (`form: 'several'`).",
    schema !== true
      ? 'JSON answers are requested in words, and checked.'
      : outcomeOf('JSON schema') === 'ignored'
        ? 'JSON answers would be constrained to their schema, but it was ignored: set `capabilities: { schema: false }`.'
        : 'JSON answers are constrained to their schema.',
    toolLine(tools, outcomeOf('tools')),
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

type Outcome = Finding['outcome'] | undefined;

function judgementLine(isKnown: boolean | undefined, outcome: Outcome): string {
  if (isKnown !== true) {
    const without = 'Judgements are averaged over three answers.';
    const hint = 'To read them from log-probabilities, ';
    return outcome === 'yes' ? `${without} ${hint}${made('logprobs')}` : without;
  }
  return outcome === 'ignored'
    ? 'Judgements would be read from log-probabilities, but none came: set `capabilities: { logprobs: false }`.'
    : 'Judgements are read from log-probabilities: one call of one token each.';
}

function toolLine(isKnown: boolean | undefined, outcome: Outcome): string {
  if (isKnown !== true) {
    const without = 'Tools are described in the prompt, and calls are read from JSON.';
    return outcome === 'yes' ? `${without} To offer it tools, ${made('tools')}` : without;
  }
  return outcome === 'ignored'
    ? 'Tools would be offered to it, but it called none: set `capabilities: { tools: false }`.'
    : 'Tools are offered to it.';
}

/** How to make use of what a server of an unknown kind was found to support. */
function made(capability: string): string {
  return `make the model with \`openaiCompatible({ capabilities: { ${capability}: true } })\`.`;
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
