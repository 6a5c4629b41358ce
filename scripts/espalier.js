// The command line from a clone: builds if needed, silently, and runs it in this process.
import { build } from './build.js';

const errors = await build();
if (errors === undefined) {
  await import('../dist/cli/main.js');
} else {
  process.stderr.write(errors);
  process.exitCode = 1;
}
