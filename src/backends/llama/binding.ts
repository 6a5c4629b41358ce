/** The used part of `node-llama-cpp`, typed structurally, so that programs without the package compile. */

/** A token. */
type Token = number;

/** The package. */
export interface LlamaBinding {
  /** Starts llama.cpp. */
  getLlama(options: LlamaSettings): Promise<NativeLlama>;
  /** Tracks the progress of a text in a grammar. */
  readonly LlamaGrammarEvaluationState: new (options: {
    readonly model: NativeModel;
    readonly grammar: NativeGrammar;
  }) => NativeGrammarState;
}

/** How llama.cpp is started. */
export interface LlamaSettings {
  /** Never: a compiler must not run in the middle of a search. */
  readonly build: 'never';
  readonly skipDownload: true;
  readonly gpu: 'auto' | 'metal' | 'cuda' | 'vulkan' | false;
  /** 0: as many as the context requests. */
  readonly maxThreads: 0;
  readonly logLevel: 'error';
  readonly logger: (level: string, message: string) => void;
}

/** A running llama.cpp. */
export interface NativeLlama {
  /** The number of cores that are useful for threads. */
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

/** The progress of a text in a grammar. Sampling advances it. */
export type NativeGrammarState = object;

/** A loaded model. */
export interface NativeModel {
  readonly llama: NativeLlama;
  readonly filename?: string | undefined;
  readonly fileInfo: {
    readonly metadata: { readonly tokenizer?: { readonly chat_template?: string | undefined } };
  };
  /** The context length in training. */
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
    /** The number of tokens of each sequence: exactly that many, or as many as memory allows. */
    readonly contextSize: number | { readonly max: number };
    readonly threads: number;
  }): Promise<NativeContext>;
  dispose(): Promise<void>;
}

/** Memory for several sequences. */
export interface NativeContext {
  /** The number of tokens of each sequence, plus one. */
  readonly contextSize: number;
  /** The number of tokens per pass. */
  readonly batchSize: number;
  readonly totalSequences: number;
  getSequence(): NativeSequence;
  dispose(): Promise<void>;
}

/** The distribution after a token, before any sampling. */
export interface NextTold {
  /** Logits, likeliest first. */
  readonly logits?: ReadonlyMap<Token, number> | undefined;
  /** The sum of e^(logit − highest) over the whole vocabulary. */
  readonly totalLogitWeight?: number | undefined;
}

/** A sequence in memory. */
export interface NativeSequence {
  /** The number of tokens it contains. */
  readonly nextTokenIndex: number;
  /** All tokens processed by the model. */
  readonly tokenMeter: { readonly usedInputTokens: number; readonly usedOutputTokens: number };
  compareContextTokens(tokens: readonly Token[]): { readonly firstDifferentIndex: number };
  /** Discards everything after the longest common prefix. */
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
  /** Samples by itself, if constrained by a grammar. */
  evaluate(
    tokens: readonly Token[],
    options: {
      readonly temperature: number;
      /** 0: all. */
      readonly topK: number;
      readonly topP: number;
      readonly seed: number;
      readonly grammarEvaluationState: NativeGrammarState;
      /** The end token is reported as well. */
      readonly yieldEogToken: true;
    },
  ): AsyncGenerator<Token, void, undefined>;
  /**
   * llama.cpp's own copy of a sequence. It is internal in version 3.22 and may disappear; the tokens are then computed
   * again.
   */
  _copyStateFromOtherSequence?(other: NativeSequence, length: number): Promise<boolean>;
}
