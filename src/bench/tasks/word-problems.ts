import type { Random } from '../../contracts/context.ts';
import { drawnQuestions, oneOf } from './drawn-questions.ts';
import type { BenchTaskEntry } from './entry.ts';

/** Grade-school arithmetic in words, with sentences that do not matter. Its splits say how many steps an answer takes. */
export const wordProblemsEntry: BenchTaskEntry = {
  name: 'word-problems',
  title: 'word problems',
  create: (options = {}) =>
    drawnQuestions({ name: 'word-problems', title: 'Word problems' }, options, drawProblem),
};

/** The parts of a story. `who` and `what` are written out by name, so that there are no pronouns to resolve. */
interface Theme {
  readonly what: string;
  readonly start: string;
  readonly more: readonly [string, ...string[]];
  readonly fewer: readonly [string, ...string[]];
  readonly packs: string;
  readonly times: string;
  readonly share: string;
  readonly aside: readonly [string, ...string[]];
}

const themes: readonly [Theme, ...Theme[]] = [
  {
    what: 'stamps',
    start: 'WHO has N stamps in an album.',
    more: ['WHO finds N more stamps on old letters.', 'An aunt sends WHO N more stamps.'],
    fewer: ['WHO gives N stamps to a friend.', 'N stamps get wet and WHO throws them away.'],
    packs: 'WHO buys N packs of M stamps each.',
    times: 'At a fair WHO wins so many that there are now N times as many stamps as before.',
    share: 'WHO sorts all stamps into N equal piles and keeps only one of the piles.',
    aside: ['The album has K pages.', 'OTHER has K coins.', 'A stamp is K mm wide.'],
  },
  {
    what: 'eggs',
    start: 'On the farm of WHO there are N eggs in the morning.',
    more: ['The hens of WHO lay N more eggs.', 'A neighbour brings WHO N more eggs.'],
    fewer: ['WHO sells N eggs on the market.', 'WHO uses N eggs for a cake.'],
    packs: 'WHO fetches N boxes of M eggs each from the barn.',
    times: 'A lorry comes, and then WHO has N times as many eggs as before.',
    share: 'WHO puts all eggs into N equal crates and sends all crates but one to town.',
    aside: [
      'There are K cows on the farm.',
      'OTHER drives K km to the market.',
      'It is K degrees.',
    ],
  },
  {
    what: 'pages',
    start: 'WHO has written N pages of a book.',
    more: ['WHO writes N more pages in a week.', 'An old notebook gives WHO N more pages.'],
    fewer: ['WHO burns N pages in anger.', 'The editor strikes out N pages.'],
    packs: 'WHO adds N chapters of M pages each.',
    times: 'After a long winter WHO has N times as many pages as before.',
    share: 'WHO divides all pages into N equal volumes and goes on with only one of them.',
    aside: ['OTHER has read K books this year.', 'A pen costs K cents.', 'WHO is K years old.'],
  },
  {
    what: 'litres',
    start: 'The tank of WHO holds N litres of water.',
    more: ['It rains, and N more litres run into the tank.', 'OTHER pours in N more litres.'],
    fewer: ['WHO waters the garden with N litres.', 'N litres leak out at night.'],
    packs: 'WHO empties N barrels of M litres each into the tank.',
    times: 'A flood leaves N times as many litres in the tank as before.',
    share: 'The water is parted into N equal pools, and WHO keeps only one of them in the tank.',
    aside: ['The garden is K metres long.', 'A barrel weighs K kg.', 'OTHER has K trees.'],
  },
];

const people = [
  'Anna',
  'Boris',
  'Chandra',
  'Dimitri',
  'Eun-ji',
  'Fatima',
  'Goran',
  'Hana',
] as const;

/** No number of a story grows beyond. */
const largest = 2_000;

function drawProblem(random: Random, steps: number) {
  const theme = oneOf(random, themes);
  const who = oneOf(random, people);
  const other = oneOf(random, people.filter((name) => name !== who) as [string, ...string[]]);
  let amount = between(random, 8, 40);
  const told = [fill(theme.start, { N: amount })];
  const asides = [...theme.aside];
  for (let left = steps; left > 0; ) {
    const { sentence, next, takes } = drawEvent(theme, { random, amount, left });
    told.push(sentence);
    amount = next;
    left -= takes;
    if (asides.length > 0 && random.next() < 0.3) {
      const [aside = ''] = asides.splice(random.integer(asides.length), 1);
      told.push(fill(aside, { K: between(random, 2, 60) }));
    }
  }
  told.push(`How many ${theme.what} are there in the end?`);
  const question = told.join(' ').replaceAll('WHO', who).replaceAll('OTHER', other);
  return { question, answer: String(amount) };
}

interface Event {
  readonly sentence: string;
  readonly next: number;
  /** How many operations it is. */
  readonly takes: number;
}

function drawEvent(
  theme: Theme,
  { random, amount, left }: Readonly<{ random: Random; amount: number; left: number }>,
): Event {
  const [n, m] = [between(random, 2, 6), between(random, 3, 12)];
  const events: readonly (() => Event | undefined)[] = [
    () => {
      const N = between(random, 3, 60);
      return { sentence: fill(oneOf(random, theme.more), { N }), next: amount + N, takes: 1 };
    },
    () => {
      if (amount < 6) return undefined;
      const N = between(random, 2, Math.floor(amount / 2));
      return { sentence: fill(oneOf(random, theme.fewer), { N }), next: amount - N, takes: 1 };
    },
    () =>
      left < 2
        ? undefined
        : { sentence: fill(theme.packs, { N: n, M: m }), next: amount + n * m, takes: 2 },
    () =>
      amount * n > largest
        ? undefined
        : { sentence: fill(theme.times, { N: n }), next: amount * n, takes: 1 },
    () =>
      amount % n !== 0 || amount / n < 2
        ? undefined
        : { sentence: fill(theme.share, { N: n }), next: amount / n, takes: 1 },
  ];
  for (;;) {
    const event = events[random.integer(events.length)]?.();
    if (event !== undefined) return event;
  }
}

function fill(sentence: string, numbers: Readonly<Record<string, number>>): string {
  return sentence.replace(/\b[KMN]\b/g, (letter) => String(numbers[letter]));
}

function between(random: Random, low: number, high: number): number {
  return low + random.integer(high - low + 1);
}
