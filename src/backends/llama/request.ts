import { ModelCallError } from '../../base/errors.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest } from '../../contracts/language-model.ts';
import { checkedRequest, type TinyRequest } from '../tiny/request.ts';

/** A request that has been checked, in full. */
export interface LlamaRequest extends TinyRequest {
  /** What the text must satisfy. */
  readonly schema: JsonValue | undefined;
}

/**
 * Checks a request and fills in what it leaves out.
 *
 * @throws EspalierError `usage` where something is out of its range; ModelCallError `capability` where tools
 * are offered.
 */
export function llamaRequest(request: GenerateRequest, seed: number): LlamaRequest {
  const { schema, tools = [], ...plain } = request;
  if (tools.length > 0) {
    throw new ModelCallError({
      kind: 'capability',
      parameter: 'tools',
      message:
        'A model in this process cannot be given tools: ask for the call as JSON, with a `schema`.',
    });
  }
  return { ...checkedRequest(plain, seed), schema };
}
