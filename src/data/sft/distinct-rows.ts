import { contentAddress } from '../../base/canonical-json.ts';
import type { SftRow } from '../rows.ts';

/** The first of each set of rows with the same prompt and completion, in order. */
export function* distinctRows(rows: Iterable<SftRow>): Generator<SftRow> {
  const seen = new Set<string>();
  for (const row of rows) {
    const key = contentAddress(JSON.stringify([row.prompt, row.completion]));
    if (seen.has(key)) continue;
    seen.add(key);
    yield row;
  }
}
