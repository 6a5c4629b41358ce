/** A text as models write them, and the answer that a careful person reads in it; null where it states none. */
export type Phrasing = readonly [text: string, answer: string | null];

/** Phrasings by group. */
export type Phrasings = Readonly<Record<string, readonly Phrasing[]>>;
