import { expectation, expectNumber } from '../../base/expect.ts';
import { seededRandom } from '../../base/random.ts';

/**
 * Which split a problem belongs to. It is drawn from the seed and the problem's id alone: a problem never moves
 * when others come or go.
 *
 * @throws EspalierError `usage` where there is no share above 0, or a name is none that the Hub takes: letters,
 *   digits and `_`, parted by points.
 */
export function splitter(
  shares: Readonly<Record<string, number>>,
  seed: number | string,
): (problem: string) => string {
  const entries = Object.entries(shares);
  for (const [name, share] of entries) {
    if (!/^\w+(\.\w+)*$/.test(name))
      throw expectation('splits', 'named by letters, digits and _', name);
    expectNumber(`splits.${name}`, share, { min: 0 });
  }
  const total = entries.reduce((sum, [, share]) => sum + share, 0);
  if (!(total > 0)) throw expectation('splits', 'shares of which one is above 0', shares);
  const possible = entries.filter(([, share]) => share > 0);
  const random = seededRandom(seed);
  return (problem) => {
    let left = random.split('split', problem).next() * total;
    for (const [name, share] of possible) {
      if (left < share) return name;
      left -= share;
    }
    // Sums of floats may fall short of the total by their last bit.
    return possible.at(-1)?.[0] ?? '';
  };
}
