#!/usr/bin/env node
import { messageOf, sentenceOf } from '../base/failure.ts';
import { withPlace } from '../base/user-module.ts';
import { endQuietlyWhenPipeCloses, printError, showWarnings } from './output.ts';
import { runCli } from './program.ts';

endQuietlyWhenPipeCloses();
showWarnings();

// Node would print the line of this package that made the error.
process.on('unhandledRejection', (reason) => {
  const told = withPlace(sentenceOf(messageOf(reason)), reason);
  printError(
    `A promise that nothing awaits was rejected: ${told} Put \`await\` before the call that made it.`,
  );
  process.exit(1);
});

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
