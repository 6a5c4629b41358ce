/** What a model takes, as far as its name tells. */
export interface ModelTraits {
  /** Whether it thinks before it writes. Instructions then come from the developer. */
  readonly reasons: boolean;
  /** Whether it takes parameters of sampling, log-probabilities and stop texts. */
  readonly samples: boolean;
  /** Whether it takes tools in Chat Completions. */
  readonly chatsWithTools: boolean;
  /** Whether it is served in the Responses API only. */
  readonly responsesOnly: boolean;
  /** Whether what is put into its cache costs more, and where prefixes end is to be said. */
  readonly marksPrefixes: boolean;
}

/**
 * What a model takes, by its name. Reasoning models are o1 and later, and GPT-5 and later but for their chat
 * variants; they take parameters of sampling only where they are told not to think, and not all can be
 * told so. GPT-5.6 and later take tools in the Responses API only, unless they do not think.
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

/** Whether a reasoning model can be told not to think. */
function mayRest(name: string): boolean {
  return /^gpt-(5\.[1-6](?!\d)|6-sol|6-luna|6\.1-terra)/.test(name);
}
