import { appendFileSync } from 'node:fs';

/** The sentences of a message: what is in backquotes, and what follows a full stop within a name, ends none. */
export function sentencesIn(message: string): readonly string[] {
  const text = message.trim().replace(/`[^`]*`/g, 'it');
  return text.split(/(?<=[.?!)])\s+(?=[A-Z])|\n/).filter((part) => part !== '');
}

/** Adds a row to the table that `npm run errors` prints. */
export function reported(...cells: readonly string[]): void {
  // biome-ignore lint/style/noProcessEnv: `npm run errors` asks for it
  const table = process.env['ESPALIER_ERRORS'];
  if (table === undefined) return;
  const row = cells.map((cell) => cell.trim().replaceAll('|', '\\|').replaceAll('\n', ' '));
  appendFileSync(table, `| ${row.join(' | ')} |\n`);
}
