/** Texts and prompts on which two implementations of a model are compared. */
import type { Environment, Message } from 'espalier';
import { seededRandom } from 'espalier';
import { blocksworld, gameOf24, solvablePuzzles } from 'espalier/environments';
import { plainContext } from 'espalier/testing';

const context = plainContext();

/** Conversations as a search holds them: what a model is asked in a state, and an answer that it could give. */
export function conversations(count: number): readonly (readonly Message[])[] {
  const random = seededRandom('conversations');
  const listed = solvablePuzzles();
  const found: (readonly Message[])[] = [];
  for (let place = 0; found.length < count; place++) {
    const { numbers } = listed[random.integer(listed.length)] ?? { numbers: [] };
    found.push(...walk(gameOf24.environment({ numbers }), place));
    const instance = blocksworld.generate(random.split(place), { blocks: 3 + (place % 3) });
    found.push(...walk(blocksworld.environment(instance), place));
  }
  return found.slice(0, count);
}

interface Walkable<State, Action> extends Environment<State, Action> {
  reset(): { readonly state: State };
  actions(state: State): readonly Action[];
}

/** Two states on the way of a random walk. */
function* walk<State, Action>(
  environment: Walkable<State, Action>,
  seed: number,
): Generator<readonly Message[]> {
  const { notation } = environment;
  const random = seededRandom(seed);
  let state = environment.reset().state;
  for (let step = 0; step < 2; step++) {
    const actions = environment.actions(state);
    const action = actions[random.integer(actions.length)];
    if (action === undefined || notation === undefined) return;
    const answer: Message = { role: 'assistant', content: notation.format(action) };
    yield [...notation.prompt(state), answer];
    const transition = environment.step(state, action, context);
    if (transition instanceof Promise) return;
    ({ state } = transition);
  }
}

const written = [
  ...['', ' ', '  ', '   ', '\t', ' \t ', '\n', '\n\n', '\r\n', '\u{b}', '\f', '\0', '\u{7f}'],
  ...[' a', '  a', 'a ', 'a  ', ' a ', 'a b', 'a  b', 'a   b', 'a\tb', 'a \n b', 'a\n\n\nb\n'],
  ...[
    '\u{a0}',
    'a\u{a0}b',
    '\u{2003}a',
    '\u{3000}',
    '\u{200b}',
    'a\u{200d}b',
    '\u{feff}a',
    '\u{2028}',
  ],
  ...['\u{2581}', '\u{2581}a', 'a\u{2581}b', ' \u{2581} ', '\u{2581}\u{2581}the'],
  ...['0', '7', '10', '24', '007', '1234567890', '3.14', '-5', '1/3', '(-1/3)', '1e-9', '1,000'],
  ...['4 9 10 13', '10 - 4 = 6 (left: 6 9 13)', '13 - 9 = 4', '4*6=24', '4 × 6 = 24', '8 ÷ 2'],
  ...['a', 'A', 'the', 'The', 'THE', 'hello world', 'Hello, world!', "don't", 'e-mail', 'x_y', '…'],
  ...['(pick-up a)', '(unstack b c)', '(put-down a)(stack a b)', 'Goal: (on a b) (on b c)', 'Now:'],
  ...[
    'é',
    'e\u{301}',
    'naïve',
    'Ärger',
    'ß',
    'ﬁ',
    'İ',
    'Ελλάδα',
    'Привет',
    'שלום',
    'مرحبا',
    'हिन्दी',
  ],
  ...['日本語', '中文 text', '한국어', 'ไทย', '١٢٣', '½', '²', '€', '→', '≤', '“quoted”', '–', '—'],
  ...[
    '😀',
    '👍🏽',
    '👨‍👩‍👧‍👦',
    '🇨🇭',
    '☃️',
    '𝔘𝔫𝔦',
    '𐍈',
    '\u{10ffff}',
    '\u{fdd0}',
    '\u{fffd}',
    '\u{fffe}',
  ],
  ...['\u{d800}', 'a\u{dc00}b', '\u{dc00}\u{d800}'],
  ...[
    '<',
    '>',
    '<>',
    '<|',
    '|>',
    '<||>',
    '<|user|',
    '<|User|>',
    '< s>',
    '<s',
    '</s',
    '/s>',
    '<0x41>',
  ],
  ...[
    '<s>',
    '</s>',
    '<s><s>',
    '<|user|>',
    '<|system|> x',
    'a<|assistant|>b',
    ' </s> ',
    '<<s>>',
    '<s></s>',
  ],
  ...['<unk>', 'a<unk>b', '<|unk|>'],
  ...[
    '<s>a',
    ' <s> a',
    'a</s>\n<s> b',
    '<|user|>\n\n',
    '<|<s>user|>',
    '<|user<|user|>|>',
    '\u{2581}<s>',
  ],
  ...[
    '{{ x }}',
    '{% if %}',
    '```js\nlet x = 1;\n```',
    '\\n',
    '"',
    "'",
    '`',
    '$x^2$',
    'https://a.b/c?d=e',
  ],
  ...[
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    'ababababab',
    '. . . .',
    '....',
    '------',
    '\n'.repeat(40),
  ],
  ...[
    ' '.repeat(33),
    `${'word '.repeat(60)}end`,
    'x'.repeat(500),
    '🎉'.repeat(20),
    `${' \n'.repeat(20)}z`,
  ],
];

const alphabets = [
  ...[
    ' ab',
    ' \n\tx',
    '0123456789 ',
    '()+-*/= 0123456789',
    '<|>/suer a',
    'thean igr',
    '\u{2581} theis',
  ],
  ...[
    'aé語😀 ',
    '\u{301}\u{200d}e👍🏽',
    '\0\u{1}\u{7f}\u{80}\u{ff}',
    'NumberslftTag:() 12',
    '.,;:!? aZ',
  ],
];

/** Plain and odd texts, those of conversations among them. */
export function texts(): readonly string[] {
  const random = seededRandom('texts');
  const drawn = alphabets.flatMap((alphabet) => {
    const characters = [...alphabet];
    return Array.from({ length: 12 }, (_, length) =>
      Array.from(
        { length: 1 + length * 4 },
        () => characters[random.integer(characters.length)] ?? '',
      ).join(''),
    );
  });
  const said = conversations(24).flatMap((messages) => messages.map(({ content }) => content));
  return [...new Set([...written, ...drawn, ...said])];
}
