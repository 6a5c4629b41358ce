import { seededRandom } from '../../base/random.ts';

/** Sample indices and base seeds are below this, so that their sum has 31 bits. */
const range = 2 ** 30;

/**
 * The seed of a sample on servers with one seed per request, of at most 31 bits.
 *
 * Neighbouring samples have neighbouring seeds, because vLLM and llama-server seed choice `i` of a request with `seed +
 * i`: a sample is the same draw whether it is requested alone or with others. The seeds of users are spread over the
 * whole range, so that those of neighbouring seeds do not overlap.
 */
export function seedOf(seed: number, index: number): number {
  return seededRandom(seed).integer(range) + (index % range);
}
