#!/usr/bin/env node
import { endQuietlyWhenPipeCloses, printError, showWarnings } from './output.ts';
import { runCli } from './program.ts';

endQuietlyWhenPipeCloses();
showWarnings();

// Node would end the process with code 13 and no word.
const onStuck = (): void => {
  printError(
    'The command cannot finish: it waits for a promise that nothing is going to settle, such as one of your own module.',
  );
  process.exitCode = 1;
};
process.once('beforeExit', onStuck);
void runCli(process.argv.slice(2)).then((code) => {
  process.off('beforeExit', onStuck);
  process.exitCode = code;
});
