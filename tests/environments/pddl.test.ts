import { describe, expect, it } from 'vitest';
import { blocksworld } from '../../src/environments/index.ts';

const problem = `
; two towers of two
(define (problem two-towers)
  (:domain blocksworld-4ops)
  (:objects a b c d)
  (:init (handempty) (on a b) (ontable b) (clear a)
         (on c d) (ontable d) (clear c))
  (:goal (and (on b c) (clear a))))
`;

const brokenForms: readonly (readonly [string, string])[] = [
  ['', 'Expected `(define (problem …) …)`, got the end of the text.'],
  ['blocks', 'Expected `(define (problem …) …)`, got `blocks` at line 1, column 1.'],
  [
    problem.trimEnd().slice(0, -1),
    'Expected `)` for the `(` at line 3, column 1, got the end of the text.',
  ],
  [
    problem.slice(0, problem.indexOf(' c d)')),
    'Expected `)` for the `(` at line 5, column 3, got the end of the text.',
  ],
  [`${problem})`, 'Expected `(` first, got `)` at line 9, column 1.'],
  [`${problem}(extra)`, 'Expected nothing after the problem, got `(extra)` at line 9, column 1.'],
  ['(solve)', 'Expected `(define (problem …) …)`, got `(solve)` at line 1, column 1.'],
  ['(define blocks)', 'Expected `(problem …)` after `define`, got `blocks` at line 1, column 9.'],
  ['()', 'Expected `(define (problem …) …)`, got `()` at line 1, column 1.'],
];

const malformedParts: readonly (readonly [string, string, string])[] = [
  [
    '(:goal',
    '(:gaol',
    'Expected a section (:objects, :init, :goal), got `(:gaol (and (on b c) (clear a)))`',
  ],
  ['(:objects a b c d)', '', 'Expected a section `(:objects …)` in the problem'],
  ['(:goal (and (on b c) (clear a)))', '', 'Expected a section `(:goal …)` in the problem'],
  ['(:objects a b c d)', '(:objects)', 'Expected at least one object, got `(:objects)`'],
  [
    '(:objects a b c d)',
    '(:objects a b a)',
    'Expected each object once, got `a` at line 5, column 17.',
  ],
  ['(:objects a b c d)', '(:objects a b c! d)', 'Expected the name of an object, got `c!`'],
  [
    '(:domain blocksworld-4ops)',
    '(:objects a)',
    'Expected one section of each kind, got `:objects`',
  ],
  ['(and (on b c) (clear a))', '(and)', 'Expected at least one fact as the goal, got `(and)`'],
  [
    '(and (on b c) (clear a))',
    '(on b c) (clear a)',
    'Expected `(and …)` or one fact as the goal, got `(clear a)`',
  ],
  [
    '(on b c)',
    '(over b c)',
    'Expected a predicate (on, ontable, clear, holding, handempty), got `over` at line 8, column 16.',
  ],
  [
    '(on b c)',
    '(not (on b c))',
    'Expected a predicate (on, ontable, clear, holding, handempty), got `not`',
  ],
  ['(on b c)', '(on b)', 'Expected 2 objects after `on`, got `(on b)` at line 8, column 15.'],
  ['(on b c)', '(clear b c)', 'Expected 1 object after `clear`, got `(clear b c)`'],
  ['(on b c)', '(on b e)', 'Expected one of the objects a b c d, got `e` at line 8, column 21.'],
  ['(on b c)', 'on', 'Expected a fact such as `(on a b)`, got `on`'],
  ['(on b c)', '(constructor)', 'got `constructor`'],
];

const inconsistentFacts: readonly (readonly [string, string, string])[] = [
  [
    '(on c d)',
    '(on c d) (on c b)',
    'Expected facts that go together with `(on c d)`, got `(on c b)` at line 7',
  ],
  [
    '(on c d)',
    '(on c d) (ontable c)',
    'Expected facts that go together with `(on c d)`, got `(ontable c)`',
  ],
  ['(on c d)', '(on c b)', 'Expected facts that go together with `(on a b)`, got `(on c b)`'],
  [
    '(clear c)',
    '(clear c) (clear d)',
    'Expected facts that go together with `(on c d)`, got `(clear d)`',
  ],
  [
    '(handempty)',
    '(handempty) (holding a)',
    'Expected facts that go together with `(handempty)`, got `(holding a)`',
  ],
  [
    '(on a b) (ontable b) (clear a)',
    '(on a a) (ontable b) (clear b)',
    'Expected towers that end in :init, got `(on a a)`.',
  ],
  [
    '(ontable b) (clear a)',
    '(on b a)',
    'Expected towers that end in :init, got `(on a b) (on b a)`.',
  ],
  ['(ontable d)', '', 'Expected a place for `d` in :init, got none.'],
  [
    '(clear c)',
    '',
    'Expected `(clear c)` in :init, which follows from the places, got no such fact.',
  ],
  [
    '(handempty)',
    '',
    'Expected `(handempty)` in :init, which follows from the places, got no such fact.',
  ],
  [
    '(on b c)',
    '(on b c) (on d c)',
    'Expected facts that go together with `(on b c)`, got `(on d c)` at line 8',
  ],
  ['(on b c)', '(on b c) (on c b)', 'Expected towers that end in :goal, got `(on b c) (on c b)`.'],
  [
    '(on b c)',
    '(holding b) (handempty)',
    'Expected facts that go together with `(holding b)`, got `(handempty)`',
  ],
  [
    '(on b c)',
    '(holding b) (on c b)',
    'Expected facts that go together with `(holding b)`, got `(on c b)`',
  ],
  ['(on b c)', '(on b a)', 'Expected facts that go together with `(on b a)`, got `(clear a)`'],
];

describe('reading PDDL', () => {
  it('understands a problem written for this test', () => {
    expect(blocksworld.parse(problem)).toEqual({
      blocks: ['a', 'b', 'c', 'd'],
      places: [1, -1, 3, -1],
      goal: { places: [null, 2, null, null], clear: [0], handEmpty: false },
    });
  });

  it('does not mind comments, case, white space, types, metrics and the order of sections', () => {
    const text = `(DEFINE (Problem X)(:goal(AND(ON B C)(clear A))) ; a comment ) with ( parentheses
      (:requirements :strips)(:metric minimize (total-cost))
      (:INIT(clear c)(clear a)(ON\tA\r\nB)(ontable b)(on C d)(ontable D)(handempty)(handempty))
      (:objects A B - block C D - block)(:domain other))`;
    expect(blocksworld.parse(text)).toEqual(blocksworld.parse(problem));
  });

  it('understands a goal of one fact, a held block, and goals on the hand', () => {
    const { places, goal } = blocksworld.parse(
      '(define (problem p) (:objects a b) (:init (holding a) (ontable b) (clear b)) (:goal (handempty)))',
    );
    expect(places).toEqual([-2, -1]);
    expect(goal).toEqual({ places: [null, null], clear: [], handEmpty: true });
    const holding = problem.replace('(on b c) (clear a)', '(holding a) (ontable c)');
    expect(blocksworld.parse(holding).goal.places).toEqual([-2, null, -1, null]);
  });

  it.each(brokenForms)('says where the form breaks: %#', (text, message) => {
    expect(() => blocksworld.parse(text)).toThrow(message);
  });

  it.each(malformedParts)('names what is malformed: %s → %s', (from, to, message) => {
    expect(() => blocksworld.parse(problem.replace(from, to))).toThrow(message);
  });

  it.each(inconsistentFacts)('names what is inconsistent: %s → %s', (from, to, message) => {
    expect(() => blocksworld.parse(problem.replace(from, to))).toThrow(message);
  });
});
