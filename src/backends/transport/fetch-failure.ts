/**
 * What a `fetch` of ours threw within an SDK. SDKs put an error of their own in the place of what looks like a
 * time-out to them, and then nobody knows any more whether a connection had been made: this one tells them
 * nothing.
 */
export class FetchFailure extends Error {
  /** What was thrown. */
  readonly origin: unknown;

  constructor(origin: unknown) {
    super('The request failed.');
    this.origin = origin;
  }
}
