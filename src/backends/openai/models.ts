/** The features of a model, as far as its name shows them. */
export interface ModelTraits {
  /** Whether it thinks before it writes. Instructions then have the role `developer`. */
  readonly reasons: boolean;
  /** Whether it supports sampling parameters, log-probabilities and stop texts. */
  readonly samples: boolean;
  /** Whether it supports tools in Chat Completions. */
  readonly chatsWithTools: boolean;
  /** Whether it is served only in the Responses API. */
  readonly responsesOnly: boolean;
  /** Whether writing to its cache costs extra, and the ends of prefixes must be marked. */
  readonly marksPrefixes: boolean;
}

/**
 * The features of a model, by its name. Reasoning models are o1 and later, and GPT-5 and later except their chat
 * variants; they support sampling parameters only if reasoning is switched off, which not all allow. GPT-5.6 and later
 * support tools only in the Responses API, unless reasoning is off.
 *
 * @param model - Its name; that of a fine-tuned one begins with `ft:`.
 */
export function traitsOf(model: string, effort: string | undefined): ModelTraits {
  const name = model.replace(/^ft:/, '');
  const [, major = '0', minor = '0', variant = ''] = /^gpt-(\d+)(?:\.(\d+))?(.*)$/.exec(name) ?? [];
  const version = Number(major) + Number(minor) / 100;
  const reasons = /^o\d/.test(name) || (Number(major) >= 5 && !variant.startsWith('-chat'));
  const rests = reasons && effort === 'none' && mayRest(name);
  return {
    reasons,
    samples: !reasons || rests,
    chatsWithTools: !reasons || rests || version < 5.06,
    responsesOnly: /-(pro|codex|deep-research)([-:]|$)|^(codex|computer-use)-/.test(name),
    marksPrefixes: version >= 5.06,
  };
}

/** Whether reasoning can be switched off. */
function mayRest(name: string): boolean {
  return /^gpt-(5\.[1-6](?!\d)|6-sol|6-luna|6\.1-terra)/.test(name);
}
