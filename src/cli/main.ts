#!/usr/bin/env node
import { endQuietlyWhenPipeCloses, showWarnings } from './output.ts';
import { runCli } from './program.ts';

endQuietlyWhenPipeCloses();
showWarnings();
process.exitCode = await runCli(process.argv.slice(2));
