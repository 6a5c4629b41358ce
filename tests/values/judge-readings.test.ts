import { expect, test } from 'vitest';
import type { Completion } from '../../src/contracts/language-model.ts';
import { answerOf } from '../../src/prompting/read-reply.ts';
import { scoreIn } from '../../src/prompting/stated-score.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { yesNoForm } from '../../src/values/judge/forms.ts';
import { scaleForm } from '../../src/values/judge/scale.ts';

const model = scriptedModel({ answer: () => '' });

/** What the judges read in a text: a score, or a word. */
const readers = {
  number: (completion: Completion) => scoreIn(completion, [1, 10])?.score,
  scale: (completion: Completion) => scaleForm({}, false).read(completion)?.score,
  'yes-no': (completion: Completion) =>
    yesNoForm({ form: 'yes-no', model }, false).read(completion)?.score,
  best: (completion: Completion) =>
    answerOf(completion, 'best', { answers: ['1', '2', '3'] })?.answer,
  better: (completion: Completion) =>
    answerOf(completion, 'better', { answers: ['A', 'B', 'T', 'tie'] })?.answer,
  letter: (completion: Completion) =>
    answerOf(completion, 'answer', { answers: ['A', 'B'] })?.answer,
};

type Readings = readonly (readonly [text: string, read: number | string | undefined])[];

const none = undefined;
const readings: Readonly<Record<keyof typeof readers, Readings>> = {
  number: [
    ['8 out of 10', 8],
    ['I would rate this 8 out of 10.', 8],
    ["I'd give it a 7.", 7],
    ['I rate this solution 6/10.', 6],
    ['Rating: 8', 8],
    ['Grade: 6/10', 6],
    ['The score is 8.', 8],
    ['My score: 7.5', 7.5],
    ['Score (1-10): 8', 8],
    ['Score – 8', 8],
    ['Score: **8** / 10', 8],
    ['Score: 8 (good)', 8],
    ['Score: 8 ⭐', 8],
    ['Score: 5 - the second step does not follow.', 5],
    ['The work has 3 steps and is right. Score: 10', 10],
    ["{'score': 9}", 9],
    [String.raw`\boxed{8}`, 8],
    ['{"analysis": {"score": 2}, "score": 9}', 9],
    ['{"score": 9} or rather {"score": 4}', 4],
    ['Score: 8\n\nWait, step 2 is wrong, so Score: 3', 3],
    ['{"score": 70, "max": 100}', none],
    ['{"score": 7, "max": 100}', none],
    ['{"steps": [{"score": 3}, {"score": 9}]}', none],
    ['{"score": 8} Actually, step 2 is wrong.', none],
    ['Score: 8/100', none],
    ['Score: 7 or 8', none],
    ['Score: 4, no, 6', none],
    ['Score: 10/10 would be too much; 6', none],
    ['Maximum score: 10', none],
    ['I would not give it a 9.', none],
    ['I give it a 7, or 8.', none],
    ['If the last step were right, the score would be 9.', none],
    ['Score: 1-10', none],
    ['1. The first step is right.\n2. The second is not.', none],
    ['3 of the 4 steps are right.', none],
  ],
  scale: [
    ['Judgement: likely', 0.5],
    ['Verdict: impossible', 0],
    ['{"judgement": "sure"}', 1],
    ['Likely, because one step is left.', 0.5],
    ['Sure, here is my judgement: impossible', none],
    ['Sure! It is likely.', none],
    ['Sure. Let me go through the steps.', none],
    ['Sure thing.', none],
    ['Sure, why not.', none],
    ['likely impossible', none],
    ['Impossible to tell', none],
    ['sure/likely', none],
    ['Likely not.', none],
  ],
  'yes-no': [
    ['Yes, no mistakes.', 1],
    ['No. The sum is wrong.', 0],
    ['yes, since every step follows', 1],
    ['{"reason": "No mistake.", "answer": "yes"}', 1],
    ['Yes, but step 2 is wrong, so no.', none],
    ['Yes, although step 3 is wrong', none],
    ['Yes… actually no.', none],
    ['No, wait: yes.', none],
    ['Yes, if step 2 is right.', none],
    ['Yes/No', none],
    ['No idea.', none],
  ],
  best: [
    ['**2**', '2'],
    ['#3', '3'],
    ['Option 2', '2'],
    ['{"best": 2}', '2'],
    ['{"best": "Proposal 2"}', '2'],
    ['Proposal 3 is the best.', '3'],
    ['The best one is 1, since 2 and 3 repeat work.', '1'],
    ['I choose option 2 because option 1 skips a step.', '2'],
    ["I'd go with proposal 3.", '3'],
    ['Best: 1\nOn reflection, Best: 3', '3'],
    ['Best option: 2', '2'],
    ['{"best": 2.5}', none],
    ['If option 2 is the best, we lose.', none],
    ['{"best": 1}. And {"best": 2} would be second.', none],
    ['I would pick 1 or 2.', none],
    ['2 > 1 > 3', none],
    ['1. Proposal 1 adds the numbers first.', none],
    ['Proposal 1 is not the best.', none],
    ['Proposal 2 is better than 1, but 3 is the best.', none],
  ],
  better: [
    ['Candidate A', 'A'],
    ['{"better": "Candidate B"}', 'B'],
    ['A is better than B.', 'A'],
    ['The better one is B.', 'B'],
    ['A > B', 'A'],
    ['Tie', 'tie'],
    ['Candidate A is better than B in style, but B is right.', none],
    ['A is better, no, B is.', none],
    ['A? No, B.', none],
    ['A/B', none],
    ['A, B', none],
    ['B... wait, A.', none],
    ['A is not better than B.', none],
    ['A small error in B makes it worse.', none],
  ],
  letter: [
    ['B because each step follows', 'B'],
    ['The answer is (B).', 'B'],
    ['Answer: (A)', 'A'],
    ['(A) or (B)', none],
    ['B? Not sure.', none],
    ['A step is missing', none],
  ],
};

for (const [reader, rows] of Object.entries(readings)) {
  const read = readers[reader as keyof typeof readers];
  test.each(rows)(`${reader}: %j is read as %j`, (text, expected) => {
    expect(read({ text, finishReason: 'stop' })).toBe(expected);
    expect(read({ text, finishReason: 'refusal' })).toBeUndefined();
    expect(read({ text: `<think>${text}`, finishReason: 'stop' })).toBeUndefined();
  });
}
