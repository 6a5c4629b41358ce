/**
 * `node --import tsx tests/live/prepare.ts JOB`: gets what a live job needs, and says which versions it found.
 * Ends with exit code 0 where all is there; else it says why not, and ends with 3.
 */
import { LlamaCpp } from '../support/llama-cpp.ts';
import { serverProgram, versionOf } from './support/llama-server.ts';
import { say } from './support/packages.ts';
import { fetchTinyLlama } from './support/tinyllama.ts';
import { prepareTransformers } from './support/transformers.ts';

const steps: Readonly<Record<string, () => Promise<void>>> = {
  async 'llama-server'() {
    say(`llama-server: ${versionOf(await serverProgram())}`);
  },
  async llama() {
    const { version } = await LlamaCpp.open();
    say(`llama: ${version}`);
  },
  async tinyllama() {
    await steps['llama-server']?.();
    await steps['llama']?.();
    await fetchTinyLlama();
  },
  transformers: prepareTransformers,
};

const [job = ''] = process.argv.slice(2);
try {
  const prepare = steps[job];
  if (prepare === undefined) throw new Error('there is no such job');
  await prepare();
  // What a library has started keeps the process alive.
  process.exit(0);
} catch (error) {
  say(`${job}: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(3);
}
