/** A model of node-llama-cpp that is none: letters for tokens, and what follows a text depends on all of it. */

import { turn } from '#platform';
import type { NextTold } from '../../../src/backends/llama/binding.ts';
import { seededRandom } from '../../../src/base/random.ts';

/** The text of each token. The first two are control tokens: a text begins with one and ends with the other. */
export const letters: readonly string[] = ['<s>', '</s>', ...'abcdefghijklmnopqrstuvwxyz ,.\n'];
export const start = 0;
export const end = 1;

export interface FakeOptions {
  /** How many tokens there are; those beyond the letters are written `<30>`, `<31>` … @defaultValue the letters */
  readonly size?: number;
  /** Whether a sequence can take over from another one. @defaultValue true */
  readonly copies?: boolean;
  /** How many tokens a sequence holds, and one more. @defaultValue 64 */
  readonly contextSize?: number;
  /** @defaultValue 8 */
  readonly batchSize?: number;
  /** The logits after a text. @defaultValue random ones, named by the text */
  readonly logitsAfter?: (tokens: readonly number[]) => readonly number[];
  /** Called before each pass through the model. */
  readonly onPass?: () => void;
}

/** What follows a text, whatever has happened before. It seldom ends. */
export function randomLogits(size: number): (tokens: readonly number[]) => readonly number[] {
  return (tokens) => {
    const random = seededRandom(tokens.join(' '));
    return Array.from({ length: size }, (_, token) => (token === end ? 0 : 6 * random.next()));
  };
}

/** What a text always has as its next letter. */
export function reciting(
  text: string,
  promptLength: number,
): (tokens: readonly number[]) => readonly number[] {
  return ({ length }) => {
    const next = text[length - promptLength];
    const token = next === undefined ? end : letters.indexOf(next);
    return letters.map((_, other) => (other === token ? 30 : 0));
  };
}

export class FakeModel {
  readonly llama: FakeLlama = new FakeLlama();
  readonly filename = 'fake.gguf';
  readonly fileInfo: { readonly metadata: object } = { metadata: {} };
  readonly trainContextSize = 64;
  readonly tokens: object = {
    bos: start,
    bosString: '<s>',
    eosString: '</s>',
    shouldPrependBosToken: true,
  };
  readonly contexts: FakeContext[] = [];
  disposed = false;
  readonly options: FakeOptions;
  readonly size: number;

  constructor(options: FakeOptions = {}) {
    this.options = options;
    this.size = options.size ?? letters.length;
  }

  *iterateAllTokens(): Generator<number> {
    for (let token = 0; token < this.size; token++) yield token;
  }

  getTokenAttributes(token: number): { readonly control: boolean } {
    return { control: token === start || token === end };
  }

  isEogToken(token: number): boolean {
    return token === end;
  }

  tokenize(text: string, _specialTokens: boolean): readonly number[] {
    return [...text].map((letter) => letters.indexOf(letter));
  }

  detokenize(
    tokens: readonly number[],
    specialTokens: boolean,
    _lastTokens?: readonly number[],
  ): string {
    return tokens
      .filter((token) => specialTokens || token > end)
      .map((token) => letters[token] ?? `<${token}>`)
      .join('');
  }

  async createContext(options: object = {}): Promise<FakeContext> {
    await turn();
    const context = new FakeContext(this, options as { sequences: number });
    this.contexts.push(context);
    return context;
  }

  async dispose(): Promise<void> {
    this.disposed = true;
  }

  /** Passes that came to their end after their context had been given back: a real one would crash. */
  late = 0;

  /** What the sequences were given to read, one line a pass: how many tokens. */
  readonly passes: number[] = [];

  logitsAfter(tokens: readonly number[]): readonly number[] {
    return (this.options.logitsAfter ?? randomLogits(this.size))(tokens);
  }
}

/** Stands for llama.cpp itself. */
export class FakeLlama {
  readonly cpuMathCores = 2;
  disposed = false;
  readonly schemas: unknown[] = [];

  async createGrammarForJsonSchema(schema: unknown): Promise<{ readonly grammar: string }> {
    this.schemas.push(schema);
    return { grammar: 'root ::= "{}" "\\n\\n\\n\\n" [\\n]*' };
  }

  async createGrammar(options: { readonly grammar: string }): Promise<object> {
    return options;
  }

  async loadModel(_options: { readonly modelPath: string }): Promise<FakeModel> {
    return new FakeModel();
  }

  async dispose(): Promise<void> {
    this.disposed = true;
  }
}

export class FakeContext {
  readonly contextSize: number;
  readonly batchSize: number;
  readonly totalSequences: number;
  readonly sequences: FakeSequence[] = [];
  disposed = false;
  readonly model: FakeModel;

  constructor(model: FakeModel, { sequences }: { readonly sequences: number }) {
    this.model = model;
    this.contextSize = model.options.contextSize ?? 64;
    this.batchSize = model.options.batchSize ?? 8;
    this.totalSequences = sequences;
  }

  getSequence(): FakeSequence {
    const sequence = new FakeSequence(this.model, this);
    if (this.model.options.copies === false) {
      Object.defineProperty(sequence, '_copyStateFromOtherSequence', { value: undefined });
    }
    this.sequences.push(sequence);
    return sequence;
  }

  async dispose(): Promise<void> {
    this.disposed = true;
  }
}

export interface Wish {
  readonly generateNext: { readonly logits: true | Filter };
}

export interface Filter {
  readonly filter: { readonly includeTop: number };
}

/** It holds tokens and reads further ones. Whoever does two things with it at once is told so. */
export class FakeSequence {
  readonly tokenMeter: { usedInputTokens: number; usedOutputTokens: number } = {
    usedInputTokens: 0,
    usedOutputTokens: 0,
  };
  held: number[] = [];
  readonly model: FakeModel;
  readonly #context: FakeContext;
  #isBusy = false;

  constructor(model: FakeModel, context: FakeContext) {
    this.model = model;
    this.#context = context;
  }

  get nextTokenIndex(): number {
    return this.held.length;
  }

  compareContextTokens(tokens: readonly number[]): { readonly firstDifferentIndex: number } {
    const place = this.held.findIndex((token, index) => token !== tokens[index]);
    return { firstDifferentIndex: place < 0 ? this.held.length : place };
  }

  async adaptStateToTokens(tokens: readonly number[]): Promise<void> {
    await this.#alone(async () => {
      this.held = this.held.slice(0, this.compareContextTokens(tokens).firstDifferentIndex);
    });
  }

  async clearHistory(): Promise<void> {
    await this.#alone(async () => {
      this.held = [];
    });
  }

  async evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void> {
    await this.#alone(() => this.#read(tokens));
  }

  async controlledEvaluate(
    input: readonly (number | readonly [number, Wish])[],
  ): Promise<readonly ({ readonly next: NextTold } | undefined)[]> {
    return this.#alone(async () => {
      const told = [];
      for (const item of input) {
        const [token, wish] = typeof item === 'number' ? [item] : item;
        await this.#read([token]);
        told.push(wish === undefined ? undefined : { next: this.#tell(wish) });
      }
      return told;
    });
  }

  async *evaluate(
    tokens: readonly number[],
    { grammarEvaluationState }: { readonly grammarEvaluationState: object },
  ): AsyncGenerator<number, void, undefined> {
    await this.#alone(() => this.#read(tokens));
    // A state of a grammar is here the list of what is still to be written.
    const next = (grammarEvaluationState as number[]).shift();
    if (next !== undefined) yield next;
  }

  async _copyStateFromOtherSequence(other: FakeSequence, length: number): Promise<boolean> {
    return this.#alone(async () => {
      if (other.#isBusy) throw new Error('The other sequence is at work.');
      this.held = other.held.slice(0, length);
      return this.held.length === length;
    });
  }

  #tell({ generateNext: { logits: wish } }: Wish) {
    const entries = [...this.model.logitsAfter(this.held).entries()];
    entries.sort(([, one], [, another]) => another - one);
    const highest = entries[0]?.[1] ?? 0;
    const told = wish === true ? entries : entries.slice(0, wish.filter.includeTop);
    return {
      logits: new Map(told),
      // In single precision, as the package adds it up.
      totalLogitWeight: Math.fround(
        entries.reduce((sum, [, logit]) => sum + Math.exp(logit - highest), 0),
      ),
    };
  }

  async #read(tokens: readonly number[]) {
    const { contextSize = 64, batchSize = 8, onPass } = this.model.options;
    if (tokens.length > batchSize) throw new Error('More than one pass takes.');
    if (this.held.length + tokens.length > contextSize - 1) throw new Error('The context is full.');
    onPass?.();
    await turn();
    if (this.#context.disposed) this.model.late++;
    this.model.passes.push(tokens.length);
    this.tokenMeter.usedInputTokens += tokens.length;
    this.held = [...this.held, ...tokens];
  }

  async #alone<Value>(act: () => Promise<Value>): Promise<Value> {
    if (this.#isBusy) throw new Error('The sequence is at work.');
    this.#isBusy = true;
    try {
      return await act();
    } finally {
      this.#isBusy = false;
    }
  }
}
