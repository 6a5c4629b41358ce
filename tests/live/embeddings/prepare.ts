/** `node --import tsx tests/live/embeddings/prepare.ts`: gets the packages. Exit code 3 where it cannot. */
import { say } from '../support/packages.ts';
import { fetchEmbeddings } from './packages.ts';

try {
  say(`embeddings: ${await fetchEmbeddings()}`);
} catch (error) {
  say(`embeddings: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 3;
}
