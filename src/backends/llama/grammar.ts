import { LRUCache } from 'lru-cache';
import { ModelCallError } from '../../base/errors.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { LlamaBinding, NativeGrammar, NativeGrammarState, NativeModel } from './binding.ts';
import { grammarSchema } from './schema.ts';

/** A grammar that texts can be bound to. */
export interface Grammar {
  /** The keywords of the schema that it does not hold a text to. */
  readonly unbound: readonly string[];
  /** Begins a text. */
  begin(): NativeGrammarState;
}

/** Makes the grammar of a schema. Rejects with a `capability` error where there can be none. */
export type GrammarMaker = (schema: JsonValue) => Promise<Grammar>;

/** How many grammars are kept: a search asks with few schemas, over and over. */
const kept = 32;

/** What the package writes behind every value, as a sign to its own chat that it is complete. */
const ending = / "(?:\\n){4}" \[\\n\]\*/;

/** Makes grammars for a model. */
export function grammarMaker(
  model: NativeModel,
  binding: () => Promise<LlamaBinding>,
): GrammarMaker {
  const grammars = new LRUCache<string, Promise<Grammar>>({ max: kept });
  async function make(schema: JsonValue): Promise<Grammar> {
    const { schema: known, unbound } = grammarSchema(schema);
    const { LlamaGrammarEvaluationState } = await binding();
    const grammar = await compiled(model, known);
    return { unbound, begin: () => new LlamaGrammarEvaluationState({ model, grammar }) };
  }
  return (schema) => {
    const key = JSON.stringify(schema);
    const grammar = grammars.get(key) ?? make(schema);
    grammars.set(key, grammar);
    return grammar;
  };
}

async function compiled(model: NativeModel, schema: JsonValue): Promise<NativeGrammar> {
  try {
    const { grammar } = await model.llama.createGrammarForJsonSchema(schema);
    return await model.llama.createGrammar({ grammar: grammar.replace(ending, '') });
  } catch (cause) {
    throw new ModelCallError({
      kind: 'capability',
      parameter: 'schema',
      message: `llama.cpp cannot make a grammar of the schema (${cause instanceof Error ? cause.message : String(cause)}): a \`minLength\` or \`minItems\` of thousands is too much for it.`,
      cause,
    });
  }
}
