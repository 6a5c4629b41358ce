import { byteLength } from '#platform';
import {
  mostTokensOfPrompt,
  type Prompt,
  templateAllowance,
  textOfPrompt,
} from './operations/tokens.ts';

/** The number of prompts kept per model. */
const kept = 16;

/**
 * Bounds the tokens of a prompt by reported counts of earlier ones: the common prefix has at most the tokens of the
 * earlier prompt, and no token of the rest is shorter than a byte.
 */
export class KnownPrompts {
  readonly #told = new Map<string, { readonly text: string; readonly tokens: number }[]>();

  /** The maximum tokens of a prompt, and a function that learns its reported count. */
  of(model: string, prompt: Prompt): { most: number; learn: (tokens: number) => void } {
    const text = textOfPrompt(prompt);
    const allowance = templateAllowance * (prompt.messages.length + 1);
    const most = (this.#told.get(model) ?? []).reduce((least, earlier) => {
      const rest = byteLength(text.slice(commonLength(text, earlier.text)));
      return Math.min(least, earlier.tokens + rest + allowance);
    }, mostTokensOfPrompt(prompt));
    const learn = (tokens: number): void => {
      // No count was reported.
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
