import type { Random } from '../../contracts/context.ts';
import { drawnQuestions, oneOf, shuffled } from './drawn-questions.ts';
import type { BenchTaskEntry } from './entry.ts';

/**
 * Facts and rules over invented words, so that nothing is known of them. Either whether somebody is something, or which of
 * three things. Its splits say how many rules an answer takes.
 *
 * The chain that decides stands among others of equal length, so that neither the number of rules nor a word that only
 * occurs with "No" gives the answer away.
 */
export const logicChainsEntry: BenchTaskEntry = {
  name: 'logic-chains',
  title: 'chains of facts and rules',
  create: (options = {}) =>
    drawnQuestions({ name: 'logic-chains', title: 'Logic chains' }, options, (random, steps) =>
      random.next() < 0.5 ? whether(random, steps) : which(random, steps),
    ),
};

/** One of two chains leads to the thing asked about, and the other to its opposite. */
function whether(random: Random, steps: number) {
  const { someone, chains, told, word } = chainsOf(random, 2, steps - 1);
  const isSo = random.next() < 0.5;
  const asked = word();
  const [own = '', other = ''] = chains;
  const rules = isSo
    ? [`Every ${own} is a ${asked}.`, `No ${other} is a ${asked}.`]
    : [`No ${own} is a ${asked}.`, `Every ${other} is a ${asked}.`];
  const text = shuffled(random, [...told, ...rules]).join(' ');
  return {
    question: `${text} Is ${someone} a ${asked}? Answer yes or no.`,
    answer: isSo ? 'yes' : 'no',
  };
}

/** Each of three chains leads to one of the three things. */
function which(random: Random, steps: number) {
  const { someone, chains, told } = chainsOf(random, 3, steps);
  const [answer = ''] = chains;
  const [one, two, three] = shuffled(random, chains);
  const text = shuffled(random, told).join(' ');
  return { question: `${text} Which of these is ${someone}: ${one}, ${two} or ${three}?`, answer };
}

/** Chains of rules, the first one from the one who is asked about, with rules that lead astray. */
function chainsOf(random: Random, count: number, length: number) {
  const word = words(random);
  const names = Array.from({ length: count }, () => {
    const name = word();
    return name.charAt(0).toUpperCase() + name.slice(1);
  });
  const told: string[] = [];
  const chains = names.map((name) => {
    let kind = word();
    told.push(`${name} is a ${kind}.`);
    for (let made = 0; made < length; made++) {
      const next = word();
      told.push(`Every ${kind} is a ${next}.`);
      // From here to where nothing follows.
      if (random.next() < 0.4) {
        told.push(`${oneOf(random, ['Every', 'No'])} ${kind} is a ${word()}.`);
      }
      kind = next;
    }
    return kind;
  });
  return { someone: names[0] ?? '', chains, told, word };
}

const onsets = [
  'b',
  'br',
  'd',
  'dr',
  'f',
  'g',
  'gl',
  'k',
  'l',
  'm',
  'n',
  'p',
  'pl',
  'r',
  's',
  't',
  'tr',
  'v',
  'z',
] as const;
const vowels = ['a', 'e', 'i', 'o', 'u'] as const;
const codas = ['b', 'ft', 'g', 'lk', 'm', 'mp', 'nd', 'rt', 'sk', 'x'] as const;

/** Invented words of two syllables, each another one. They begin with consonants, so that "a" fits. */
function words(random: Random): () => string {
  const used = new Set<string>();
  return () => {
    for (;;) {
      const parts = [onsets, vowels, onsets, vowels, codas].map((part) => oneOf(random, part));
      const word = parts.join('');
      if (used.size < used.add(word).size) return word;
    }
  };
}
