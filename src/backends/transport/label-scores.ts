import type { ModelCall, Usage } from '../../contracts/language-model.ts';
import type { Endpoint } from './endpoint.ts';
import { fieldsOf, itemsOf } from './json.ts';
import { byIndex } from './numbered.ts';

/**
 * The normalised probabilities of tokens as the next token after texts, which servers call scoring. All texts begin
 * with `query`. There is a row for each text: the numbers of all tokens, or from vLLM only of the first one. SGLang may
 * return too few rows.
 */
export async function labelScores(
  endpoint: Endpoint,
  {
    query,
    items,
    ids,
    server,
    call,
  }: {
    readonly query: string;
    readonly items: readonly string[];
    readonly ids: readonly number[];
    readonly server: 'sglang' | 'vllm';
    readonly call: ModelCall;
  },
): Promise<{
  readonly rows: readonly (readonly unknown[])[];
  readonly usage: Usage | undefined;
}> {
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
