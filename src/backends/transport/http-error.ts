/** A reply with a status that is no success, in the shape that `modelCallErrorFrom` reads. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** The status. */
  readonly status: number;
  /** The headers. */
  readonly headers: Headers;
  /** The body as JSON; `undefined` where it is none. */
  readonly error: unknown;

  /** @param response - What was answered. @param text - Its body. */
  constructor(response: Response, text: string) {
    const error = parsed(text);
    super(messageOf(response, text));
    this.status = response.status;
    this.headers = response.headers;
    this.error = error;
  }
}

function messageOf({ status, statusText, headers }: Response, text: string): string {
  const location = headers.get('location');
  if (status >= 300 && status < 400 && location !== null) return `it has moved to ${location}`;
  return text.trim() === '' ? statusText || 'no explanation' : text;
}

/** A text as JSON; `undefined` where it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
