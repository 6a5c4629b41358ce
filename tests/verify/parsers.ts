/**
 * Reads hostile texts of 1 MiB with all that reads what models and servers write: the time must grow with the text, and
 * not faster. `npm run verify:parsers`.
 */
import { fault, hostile, readers } from '../promises/hostile-readers.ts';

const faults: string[] = [];
const start = performance.now();
for (const [name, [read]] of Object.entries(readers)) {
  for (const pattern of hostile) {
    const why = await fault(read, pattern, 1 << 20);
    if (why !== undefined) faults.push(`${name}, ${JSON.stringify(pattern)}: ${why}`);
  }
}
const seconds = Math.round((performance.now() - start) / 1000);
const tried = `${Object.keys(readers).length} readers, ${hostile.length} texts of 1 MiB`;
process.stdout.write(
  `${[`${tried}, ${seconds} s: ${faults.length} grow too fast`, ...faults].join('\n')}\n`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
