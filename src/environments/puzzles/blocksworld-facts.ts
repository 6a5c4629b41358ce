import { counted } from '../../base/counted.ts';
import { EspalierError } from '../../base/errors.ts';
import { type BlocksworldGoal, HAND, placeFact, stateFacts, TABLE } from './blocksworld-state.ts';
import { type Expression, pddlError } from './pddl.ts';

interface Fact {
  readonly predicate: Predicate;
  /** The blocks it is about. */
  readonly objects: readonly number[];
  /** The fact as `stateFacts` writes it. */
  readonly text: string;
  readonly source: Expression;
}

type Predicate = keyof typeof arities;

const arities = { on: 2, ontable: 1, clear: 1, holding: 1, handempty: 0 } as const;

/**
 * Reads facts that are consistent.
 *
 * @throws EspalierError `usage` if a fact is malformed or no state satisfies all of them.
 */
export function readFacts(
  blocks: readonly string[],
  expressions: readonly Expression[],
  section: ':init' | ':goal',
): BlocksworldGoal {
  const facts = expressions.map((expression) => readFact(blocks, expression));
  expectTogether(facts);
  const places = blocks.map((_name, block) => placeIn(facts, block));
  const cycle = findCycle(places).map((block) => placeFact(blocks, block, places[block] ?? TABLE));
  if (cycle.length > 0) throw factError(`towers that end in ${section}`, `\`${cycle.join(' ')}\``);

  const clear = facts.filter(({ predicate }) => predicate === 'clear');
  return {
    places,
    clear: [...new Set(clear.flatMap(({ objects }) => objects))].toSorted((a, b) => a - b),
    handEmpty: facts.some(({ predicate }) => predicate === 'handempty'),
  };
}

/**
 * The places of all blocks, given all facts of an initial state.
 *
 * @throws EspalierError `usage` if a fact is missing: what is not stated would be false.
 */
export function completePlaces(
  blocks: readonly string[],
  { places, clear, handEmpty }: BlocksworldGoal,
): readonly number[] {
  const complete = places.map((place, block) => {
    if (place === null) throw factError(`a place for \`${blocks[block]}\` in :init`, 'none');
    return place;
  });
  const stated = new Set([
    ...complete.map((place, block) => placeFact(blocks, block, place)),
    ...clear.map((block) => `(clear ${blocks[block]})`),
    ...(handEmpty ? ['(handempty)'] : []),
  ]);
  const missing = stateFacts(blocks, complete).find((fact) => !stated.has(fact));
  if (missing !== undefined) {
    throw factError(`\`${missing}\` in :init, which follows from the places`, 'no such fact');
  }
  return complete;
}

function readFact(blocks: readonly string[], source: Expression): Fact {
  if (source.kind === 'atom') throw pddlError('a fact such as `(on a b)`', source);
  const [head, ...rest] = source.items;
  const predicates = Object.keys(arities) as readonly Predicate[];
  const predicate = predicates.find((name) => head?.kind === 'atom' && head.text === name);
  if (predicate === undefined) {
    throw pddlError(`a predicate (${predicates.join(', ')})`, head ?? source);
  }
  const arity = arities[predicate];
  if (rest.length !== arity) {
    throw pddlError(`${counted(arity, 'object')} after \`${predicate}\``, source);
  }
  const objects = rest.map((word) => {
    const block = word.kind === 'atom' ? blocks.indexOf(word.text) : -1;
    if (block === -1) throw pddlError(`one of the objects ${blocks.join(' ')}`, word);
    return block;
  });
  const text = `(${[predicate, ...objects.map((block) => blocks[block])].join(' ')})`;
  return { predicate, objects, text, source };
}

/** Throws unless every exclusive claim is made by at most one fact. */
function expectTogether(facts: readonly Fact[]): void {
  const owners = new Map<string, string>();
  for (const { predicate, objects, text, source } of facts) {
    for (const claim of claimsOf(predicate, objects)) {
      const owner = owners.get(claim) ?? text;
      if (owner !== text) throw pddlError(`facts that go together with \`${owner}\``, source);
      owners.set(claim, text);
    }
  }
}

/** The exclusive claims of a fact: the place of a block, the top of a block, the hand. */
function claimsOf(predicate: Predicate, [block, other]: readonly number[]): readonly string[] {
  switch (predicate) {
    case 'on':
      return [`place ${block}`, `top ${other}`];
    case 'ontable':
      return [`place ${block}`];
    case 'clear':
      return [`top ${block}`];
    case 'holding':
      return [`place ${block}`, `top ${block}`, 'hand'];
    case 'handempty':
      return ['hand'];
  }
}

function placeIn(facts: readonly Fact[], block: number): number | null {
  for (const { predicate, objects } of facts) {
    if (objects[0] !== block) continue;
    if (predicate === 'on') return objects[1] ?? null;
    if (predicate === 'ontable') return TABLE;
    if (predicate === 'holding') return HAND;
  }
  return null;
}

/** Blocks each of which is on the next one, and the last one on the first; empty without a cycle. */
function findCycle(places: readonly (number | null)[]): readonly number[] {
  for (const start of places.keys()) {
    const chain = [start];
    for (
      let below = places[start] ?? TABLE;
      below >= 0 && chain.length <= places.length;
      below = places[below] ?? TABLE
    ) {
      if (below === start) return chain;
      chain.push(below);
    }
  }
  return [];
}

function factError(expected: string, got: string): EspalierError {
  return new EspalierError('usage', `Expected ${expected}, got ${got}.`);
}
