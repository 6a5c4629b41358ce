import { byteLength } from '#platform';
import {
  mostTokensOfPrompt,
  type Prompt,
  templateAllowance,
  textOfPrompt,
} from './operations/tokens.ts';

/** How many prompts of a model are kept. */
const kept = 16;

/**
 * Bounds the tokens of a prompt by what the model has told of earlier ones: what it has in common with one is no more
 * than that one was, and no token of the rest is shorter than a byte.
 */
export class KnownPrompts {
  readonly #told = new Map<string, { readonly text: string; readonly tokens: number }[]>();

  /** The most tokens that a prompt may be, and how to take in how many it was. */
  of(model: string, prompt: Prompt): { most: number; learn: (tokens: number) => void } {
    const text = textOfPrompt(prompt);
    const allowance = templateAllowance * (prompt.messages.length + 1);
    const most = (this.#told.get(model) ?? []).reduce((least, earlier) => {
      const rest = byteLength(text.slice(commonLength(text, earlier.text)));
      return Math.min(least, earlier.tokens + rest + allowance);
    }, mostTokensOfPrompt(prompt));
    const learn = (tokens: number): void => {
      // Nobody told.
      if (tokens <= 0) return;
      const others = (this.#told.get(model) ?? []).filter((earlier) => earlier.text !== text);
      this.#told.set(model, [...others, { text, tokens }].slice(-kept));
    };
    return { most, learn };
  }
}

function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}
