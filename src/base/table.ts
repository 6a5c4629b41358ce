/** Text in columns: the first one left-aligned, the others right-aligned unless all are to be left-aligned. */
export function table(
  rows: readonly (readonly string[])[],
  { isLeft = false }: { readonly isLeft?: boolean } = {},
): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return column === 0 || isLeft ? cell.padEnd(width) : cell.padStart(width);
        })
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}
