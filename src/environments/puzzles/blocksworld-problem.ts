import { completePlaces, readFacts } from './blocksworld-facts.ts';
import { type BlocksworldState, goalFacts, stateFacts } from './blocksworld-state.ts';
import { type Expression, isWord, type List, pddlError, readPddl } from './pddl.ts';

/**
 * Reads a PDDL problem of the domain with four operators.
 *
 * Comments, case, white space, types of objects, and the names of problem and domain do not matter. The
 * initial state has to be complete and consistent, and the goal one that some state satisfies.
 *
 * @throws EspalierError `usage` that names what is missing or wrong, and its place.
 */
export function parseProblem(text: string): BlocksworldState {
  const root = readPddl(text);
  const sections = readSections(root);
  const blocks = readObjects(section(sections, ':objects', root));

  const initial = section(sections, ':init', root).items.slice(1);
  const places = completePlaces(blocks, readFacts(blocks, initial, ':init'));
  const goal = readFacts(blocks, conjuncts(section(sections, ':goal', root)), ':goal');
  return { blocks, places, goal };
}

/** Writes a problem in PDDL. */
export function formatProblem(problem: BlocksworldState): string {
  const { blocks, places } = problem;
  const wanted = goalFacts(problem).map(({ fact }) => fact);
  return [
    '(define (problem blocks)',
    '(:domain blocksworld-4ops)',
    `(:objects ${blocks.join(' ')})`,
    `(:init\n${stateFacts(blocks, places).join('\n')})`,
    `(:goal (and\n${wanted.join('\n')})))\n`,
  ].join('\n');
}

const ignored: readonly string[] = [':domain', ':requirements', ':metric'];
const known: readonly string[] = [':objects', ':init', ':goal'];

function readSections(root: List): ReadonlyMap<string, List> {
  const [define, problem, ...rest] = root.items;
  if (!isWord(define, 'define')) throw pddlError('`(define (problem …) …)`', root);
  if (problem?.kind !== 'list' || !isWord(problem.items[0], 'problem')) {
    throw pddlError('`(problem …)` after `define`', problem ?? root);
  }

  const sections = new Map<string, List>();
  for (const expression of rest) {
    const head = expression.kind === 'list' ? expression.items[0] : undefined;
    if (expression.kind !== 'list' || head?.kind !== 'atom' || !isSection(head.text)) {
      throw pddlError(`a section (${known.join(', ')})`, expression);
    }
    if (sections.has(head.text)) throw pddlError('one section of each kind', head);
    sections.set(head.text, expression);
  }
  return sections;
}

function isSection(name: string): boolean {
  return known.includes(name) || ignored.includes(name);
}

function section(sections: ReadonlyMap<string, List>, name: string, root: List): List {
  const found = sections.get(name);
  if (found === undefined) throw pddlError(`a section \`(${name} …)\` in the problem`, root);
  return found;
}

/** The names of the objects; what follows a `-` is a type. */
function readObjects(objects: List): readonly string[] {
  const blocks: string[] = [];
  const words = objects.items.slice(1);
  for (const [index, word] of words.entries()) {
    if (word.kind !== 'atom' || !/^[\w-]+$/.test(word.text)) {
      throw pddlError('the name of an object', word);
    }
    if (word.text === '-' || isWord(words[index - 1], '-')) continue;
    if (blocks.includes(word.text)) throw pddlError('each object once', word);
    blocks.push(word.text);
  }
  if (blocks.length === 0) throw pddlError('at least one object', objects);
  return blocks;
}

/** The facts of a goal, which is one fact or a conjunction. */
function conjuncts(goal: List): readonly Expression[] {
  const [, condition, ...rest] = goal.items;
  if (condition?.kind !== 'list' || rest.length > 0) {
    throw pddlError('`(and …)` or one fact as the goal', rest[0] ?? condition ?? goal);
  }
  const facts = isWord(condition.items[0], 'and') ? condition.items.slice(1) : [condition];
  if (facts.length === 0) throw pddlError('at least one fact as the goal', condition);
  return facts;
}
