import { ModelCallError } from '../../base/errors.ts';
import type { Capabilities, ModelCall } from '../../contracts/language-model.ts';

/** A feature of a request that can be left out or emulated if a model does not support it. */
export type Droppable =
  | 'n'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'seed'
  | 'stop'
  | 'logprobs'
  | 'schema'
  | 'toolChoice'
  | 'continuation'
  | 'thoughts'
  | 'prefixEnds'
  | 'maxTokens'
  | 'stream'
  | 'strictTools'
  | 'hosts';

/** Servers' names for these features. */
const names: Readonly<Record<string, Droppable>> = {
  n: 'n',
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  seed: 'seed',
  stop: 'stop',
  stop_sequences: 'stop',
  logprobs: 'logprobs',
  top_logprobs: 'logprobs',
  response_format: 'schema',
  // The Responses API's name for it.
  text: 'schema',
  output_config: 'schema',
  structured_outputs: 'schema',
  tool_choice: 'toolChoice',
  strict: 'strictTools',
  continuation: 'continuation',
  'thinking.signature': 'thoughts',
  prompt_cache_options: 'prefixEnds',
  prompt_cache_breakpoint: 'prefixEnds',
  max_tokens: 'maxTokens',
  stream: 'stream',
  stream_options: 'stream',
  require_parameters: 'hosts',
};

const instead: Readonly<Record<Droppable, string>> = {
  n: 'several samples are requested one by one',
  temperature: 'its own temperature is used',
  topP: 'its own sampling is used',
  topK: 'its own sampling is used',
  seed: 'samples differ from run to run',
  stop: 'answers are cut off locally instead',
  logprobs: 'answers come without log-probabilities',
  schema: 'the schema is requested in words, and may not be followed',
  toolChoice: 'the tool is requested in words, and may not be called',
  continuation: 'the beginning of the answer is sent in the question',
  thoughts: 'its thoughts on earlier turns are left out',
  prefixEnds: 'its cache chooses which prompts to keep',
  maxTokens: 'the limit is sent under its newer name',
  strictTools: 'inputs of tools may deviate from their schemas',
  stream: 'long answers are requested without streaming',
  hosts: 'no host supports everything requested, and hosts ignore what they do not support',
};

/** Which of these features are known to be supported or not. */
export type Known = { readonly [What in Droppable]?: boolean };

/** The features that one model turned out not to support, remembered so that each is requested in vain only once. */
export class Downgrades {
  readonly #model: string;
  readonly #dropped = new Set<Droppable>();
  readonly #said = new Set<string>();
  #capabilities: Capabilities = {};
  #known: Known = {};

  /** @param model - The model, as `provider:modelId`. @param known - Known features, as for `know`. */
  constructor(model: string, ...known: Parameters<Downgrades['know']>) {
    this.#model = model;
    this.know(...known);
  }

  /**
   * Sets what the model is known to support.
   *
   * @param capabilities - What it declares. @param known - Features that are not even requested if false.
   */
  know(capabilities: Capabilities, known: Known = capabilities): void {
    this.#capabilities = capabilities;
    this.#known = known;
  }

  /** Whether a feature is no longer requested. */
  has(what: Droppable): boolean {
    return this.#dropped.has(what);
  }

  /** Whether a feature would be requested in vain. */
  refuses(what: Droppable): boolean {
    return this.has(what) || this.#known[what] === false;
  }

  /** Warns about something else, once per subject. */
  warn(call: Pick<ModelCall, 'warn'>, about: string, what: string): void {
    if (this.#said.has(about)) return;
    this.#said.add(about);
    call.warn?.({ model: this.#model, about, message: `${this.#model} ${what}` });
  }

  /** The capabilities of the model, as known so far. */
  get capabilities(): Capabilities {
    const known: Record<string, boolean | undefined> = { ...this.#capabilities };
    for (const what of this.#dropped) if (what in known) known[what] = false;
    return known;
  }

  /** Records that a feature is not supported, and warns once. Returns whether that is new. */
  drop(what: Droppable, call: Pick<ModelCall, 'warn'>): boolean {
    if (this.#dropped.has(what)) return false;
    this.#dropped.add(what);
    const message = `${this.#model} does not honour \`${what}\`: ${instead[what]}.`;
    call.warn?.({ model: this.#model, about: what, message });
    return true;
  }

  /** Sends a request; whenever the server names another unsupported feature, sends it again without that. */
  async send<Reply>(attempt: () => Promise<Reply>, call: Pick<ModelCall, 'warn'>): Promise<Reply> {
    for (;;) {
      const before = new Set(this.#dropped);
      try {
        return await attempt();
      } catch (error) {
        if (!ModelCallError.isInstance(error) || error.kind !== 'capability') throw error;
        const what = error.parameter === undefined ? undefined : names[error.parameter];
        if (what === undefined || before.has(what)) throw error;
        // Another call may have found out meanwhile, but this request was still sent with it.
        this.drop(what, call);
      }
    }
  }
}
