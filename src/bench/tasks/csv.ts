/** The cells of a line of comma-separated values, trimmed. A cell in quotes may hold commas, and `""` for a quote. */
export function csvCells(line: string): readonly string[] {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let place = 0; place < line.length; place++) {
    const character = line[place] ?? '';
    if (character === '"' && isQuoted && line[place + 1] === '"') {
      cell += '"';
      place++;
    } else if (character === '"') {
      isQuoted = !isQuoted;
    } else if (character === ',' && !isQuoted) {
      cells.push(cell.trim());
      cell = '';
    } else {
      cell += character;
    }
  }
  return [...cells, cell.trim()];
}
