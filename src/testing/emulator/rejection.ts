import type { JsonValue } from '../../contracts/json.ts';
import type { JsonObject } from './fields.ts';

/** Why a request is refused, independent of the dialect. */
export interface RejectionOptions {
  readonly status: number;
  readonly message: string;
  /** The type of the error, if it is not the usual one for its status. */
  readonly type?: string;
  /** OpenAI's code. */
  readonly code?: string;
  /** The parameter in question. */
  readonly param?: string;
  /** Further fields of the error. */
  readonly extra?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** The entire body, if it is not that of the dialect: JSON, or a page of HTML. */
  readonly body?: { readonly json: JsonValue } | { readonly html: string };
}

/** A request that is refused. */
export class Rejection extends Error {
  readonly options: RejectionOptions;

  constructor(options: RejectionOptions) {
    super(options.message);
    this.options = options;
  }
}

/** A request that cannot be served. */
export function badRequest(message: string): Rejection {
  return new Rejection({ status: 400, message });
}
