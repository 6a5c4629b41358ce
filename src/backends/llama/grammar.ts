import { LRUCache } from 'lru-cache';
import { ModelCallError } from '../../base/errors.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { LlamaBinding, NativeGrammar, NativeGrammarState, NativeModel } from './binding.ts';
import { grammarSchema } from './schema.ts';

/** A grammar that can constrain texts. */
export interface Grammar {
  /** The keywords of the schema that it does not enforce. */
  readonly unbound: readonly string[];
  /** Starts a text. */
  begin(): NativeGrammarState;
}

/** Makes the grammar of a schema. Rejects with a `capability` error if that is impossible. */
export type GrammarMaker = (schema: JsonValue) => Promise<Grammar>;

/** The number of grammars kept: a search uses few schemas, again and again. */
const kept = 32;

/** A suffix that the package adds to every value, which tells its own chat that the value is complete. */
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
