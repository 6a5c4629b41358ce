import { tokensOf } from './tokens.ts';

/** Ids of tokens, assigned when they are first seen. */
export class Vocabulary {
  private readonly ids = new Map<string, number>();
  private readonly tokens: string[] = [];

  /** The ids of a text's tokens. */
  encode(text: string): readonly number[] {
    return tokensOf(text).map((token) => this.idOf(token));
  }

  /** The text of token ids; unknown ones are left out. */
  decode(ids: readonly number[]): string {
    return ids.map((id) => this.tokens[id] ?? '').join('');
  }

  private idOf(token: string): number {
    const known = this.ids.get(token);
    if (known !== undefined) return known;
    const id = this.tokens.push(token) - 1;
    this.ids.set(token, id);
    return id;
  }
}
