import { expectation, expectNumber } from '../../base/expect.ts';
import { seededRandom } from '../../base/random.ts';

/**
 * Which split a problem belongs to. It is drawn from the seed and the problem's id alone: a problem never moves
 * when others come or go, and the shares are those of many problems.
 *
 * @param all - The ids of all problems, where the shares are to be exact: the problems stand in the order of what was
 *   drawn, which is cut at the shares. Only those near a cut are elsewhere than without it.
 * @throws EspalierError `usage` if there is no share above 0, or a name is none that the Hub takes: letters,
 *   digits and `_`, parted by points.
 */
export function splitter(
  shares: Readonly<Record<string, number>>,
  seed: number | string,
  all?: readonly string[],
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
  const draw = (problem: string): number => random.split('split', problem).next();
  const splitAt = (place: number): string => {
    let left = place * total;
    for (const [name, share] of possible) {
      if (left < share) return name;
      left -= share;
    }
    // Sums of floats may fall short of the total by their last bit.
    return possible.at(-1)?.[0] ?? '';
  };
  if (all === undefined) return (problem) => splitAt(draw(problem));
  const places = placesOf(all, draw);
  return (problem) => {
    const place = places.get(problem);
    if (place === undefined) throw expectation('allProblems', 'all problems', `none of ${problem}`);
    return splitAt(place);
  };
}

/** The middle of the position of each problem in [0, 1), in the order of the drawn numbers. */
function placesOf(
  all: readonly string[],
  draw: (problem: string) => number,
): ReadonlyMap<string, number> {
  const drawn = [...new Set(all)].map((problem) => ({ problem, at: draw(problem) }));
  // Equal draws are as unlikely as equal seeds, and must not depend on the order given.
  const ranked = drawn.toSorted((a, b) => a.at - b.at || (a.problem < b.problem ? -1 : 1));
  return new Map(ranked.map(({ problem }, rank) => [problem, (rank + 0.5) / ranked.length]));
}
