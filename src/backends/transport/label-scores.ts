import type { ModelCall, Usage } from '../../contracts/language-model.ts';
import type { Endpoint } from './endpoint.ts';
import { fieldsOf, itemsOf } from './json.ts';
import { byIndex } from './numbered.ts';

/** Texts behind which tokens are scored. */
export interface LabelsAsked {
  /** What all texts begin with. */
  readonly query: string;
  /** How they go on. */
  readonly items: readonly string[];
  /** The ids of the tokens. */
  readonly ids: readonly number[];
  /** What kind of server it is. */
  readonly server: 'sglang' | 'vllm';
  readonly call: ModelCall;
}

/** What a server told of tokens. */
export interface LabelsTold {
  /** A row for each text: the numbers of all tokens, or of the first one alone from vLLM. SGLang may tell too few rows. */
  readonly rows: readonly (readonly unknown[])[];
  readonly usage: Usage | undefined;
}

/** The probabilities of tokens as the next one behind texts, normalised: what servers call scoring. */
export async function labelScores(
  endpoint: Endpoint,
  { query, items, ids, server, call }: LabelsAsked,
): Promise<LabelsTold> {
  const body = {
    ...{ model: endpoint.modelId, query, items, label_token_ids: ids },
    ...{ apply_softmax: true, item_first: false },
  };
  if (server === 'sglang') {
    const told = await endpoint.list('/v1/score', body, { field: 'scores', call });
    return { rows: told.items.map(itemsOf), usage: told.usage };
  }
  const told = await endpoint.list('/generative_scoring', body, { field: 'data', call });
  const rows = byIndex(told.items, items.length).map((item) => [fieldsOf(item)['score']]);
  return { rows, usage: told.usage };
}
