/**
 * What is used of `node-llama-cpp`, by structure: who does without the package compiles without its types.
 */

/** A token. */
type Token = number;

/** The package. */
export interface LlamaBinding {
  /** Starts llama.cpp. */
  getLlama(options: LlamaSettings): Promise<NativeLlama>;
  /** Follows a text through a grammar. */
  readonly LlamaGrammarEvaluationState: new (options: {
    readonly model: NativeModel;
    readonly grammar: NativeGrammar;
  }) => NativeGrammarState;
}

/** How llama.cpp is started. */
export interface LlamaSettings {
  /** Never: nobody wants to wait for a compiler in the middle of a search. */
  readonly build: 'never';
  readonly skipDownload: true;
  readonly gpu: 'auto' | 'metal' | 'cuda' | 'vulkan' | false;
  /** 0: as many as the context asks for. */
  readonly maxThreads: 0;
  readonly logLevel: 'error';
  readonly logger: (level: string, message: string) => void;
}

/** llama.cpp, started. */
export interface NativeLlama {
  /** The cores that are worth a thread. */
  readonly cpuMathCores: number;
  loadModel(options: { readonly modelPath: string }): Promise<NativeModel>;
  createGrammarForJsonSchema(schema: unknown): Promise<NativeGrammar>;
  createGrammar(options: { readonly grammar: string }): Promise<NativeGrammar>;
  dispose(): Promise<void>;
}

/** A compiled grammar. */
export interface NativeGrammar {
  /** Its source. */
  readonly grammar: string;
}

/** How far a text has come in a grammar. Sampling moves it on. */
export type NativeGrammarState = object;

/** A model that has been read. */
export interface NativeModel {
  readonly llama: NativeLlama;
  readonly filename?: string | undefined;
  readonly fileInfo: {
    readonly metadata: { readonly tokenizer?: { readonly chat_template?: string | undefined } };
  };
  /** The length of the texts that it was trained on. */
  readonly trainContextSize: number;
  readonly tokens: {
    readonly bos: Token | null;
    readonly bosString: string | null;
    readonly eosString: string | null;
    readonly shouldPrependBosToken: boolean;
  };
  iterateAllTokens(): Iterable<Token>;
  getTokenAttributes(token: Token): { readonly control: boolean };
  isEogToken(token: Token): boolean;
  tokenize(text: string, specialTokens: boolean): readonly Token[];
  detokenize(
    tokens: readonly Token[],
    specialTokens: boolean,
    lastTokens?: readonly Token[],
  ): string;
  createContext(options: {
    readonly sequences: number;
    /** How many tokens each may hold: that many, or as many as the memory allows. */
    readonly contextSize: number | { readonly max: number };
    readonly threads: number;
  }): Promise<NativeContext>;
  dispose(): Promise<void>;
}

/** Room for several texts. */
export interface NativeContext {
  /** How many tokens each text may have, and one more. */
  readonly contextSize: number;
  /** How many tokens are read in one pass. */
  readonly batchSize: number;
  readonly totalSequences: number;
  getSequence(): NativeSequence;
  dispose(): Promise<void>;
}

/** The distribution after a token, before any sampling. */
export interface NextTold {
  /** The likeliest first. */
  readonly logits?: ReadonlyMap<Token, number> | undefined;
  /** The sum of e^(logit − highest) over the whole vocabulary. */
  readonly totalLogitWeight?: number | undefined;
}

/** A text as llama.cpp holds it. */
export interface NativeSequence {
  /** How many tokens it holds. */
  readonly nextTokenIndex: number;
  /** All tokens that went through the model. */
  readonly tokenMeter: { readonly usedInputTokens: number; readonly usedOutputTokens: number };
  compareContextTokens(tokens: readonly Token[]): { readonly firstDifferentIndex: number };
  /** Forgets what comes after the longest common prefix. */
  adaptStateToTokens(tokens: readonly Token[], allowShift: false): Promise<void>;
  clearHistory(): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly Token[]): Promise<void>;
  controlledEvaluate(
    tokens: readonly (
      | Token
      | readonly [
          Token,
          {
            readonly generateNext: {
              readonly logits: true | { readonly filter: { readonly includeTop: number } };
              readonly totalLogitWeight: true;
            };
          },
        ]
    )[],
  ): Promise<readonly ({ readonly next: NextTold } | undefined)[]>;
  /** Samples by itself, where a grammar binds it. */
  evaluate(
    tokens: readonly Token[],
    options: {
      readonly temperature: number;
      /** 0: all. */
      readonly topK: number;
      readonly topP: number;
      readonly seed: number;
      readonly grammarEvaluationState: NativeGrammarState;
      /** The token that ends a text is told as well. */
      readonly yieldEogToken: true;
    },
  ): AsyncGenerator<Token, void, undefined>;
  /**
   * llama.cpp's own way to fork a text. Internal in version 3.22, so that it may be gone in another one: what
   * it would have copied is then read again.
   */
  _copyStateFromOtherSequence?(other: NativeSequence, length: number): Promise<boolean>;
}
