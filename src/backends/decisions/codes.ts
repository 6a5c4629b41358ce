import { EspalierError } from '../../base/errors.ts';
import type { Question } from '../../contracts/decision-model.ts';
import type { Message } from '../../contracts/language-model.ts';
import { fill, type PromptSet } from '../../prompting/prompts.ts';

/** The names of the prompt texts for decisions. */
export type DecisionPromptNames = 'choice' | 'meaning' | 'option' | 'scale' | 'yesNo';

/** The prompt texts for decisions with an answer of one token. */
export const decisionPrompts: PromptSet<DecisionPromptNames> = {
  name: 'decisions-from-model',
  version: 1,
  texts: {
    yesNo: '{question}\n{options}\nAnswer in one word: yes or no.',
    scale: '{question}\n{options}\nAnswer with the number in front of the level that fits best.',
    choice: '{question}\n{options}\nAnswer with the letter in front of the choice that fits best.',
    option: '{code}: {text}',
    meaning: '{code} means: {text}',
  },
};

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** The codes of the answers, in order; each is one token in almost any vocabulary. */
export function codesOf(question: Question): readonly string[] {
  switch (question.type) {
    case 'yes-no':
      return ['yes', 'no'];
    case 'scale':
      return question.levels.map((_, place) => String(place));
    case 'choice': {
      const { length } = Object.keys(question.choices);
      if (length <= letters.length) return letters.slice(0, length).split('');
      throw new EspalierError(
        'usage',
        `Expected \`choices\` to be at most ${letters.length} for a language model, got ${length}.`,
      );
    }
  }
}

/** A question as text, with a code for each answer. */
export function questionText(
  question: Question,
  { texts }: PromptSet<DecisionPromptNames>,
): string {
  const codes = codesOf(question);
  const options = meaningsOf(question).flatMap((text, place) =>
    text === undefined
      ? []
      : [
          fill(question.type === 'yes-no' ? texts.meaning : texts.option, {
            code: codes[place] ?? '',
            text,
          }),
        ],
  );
  const form = { 'yes-no': texts.yesNo, scale: texts.scale, choice: texts.choice }[question.type];
  const filled = fill(form, { question: question.text, options: options.join('\n') });
  // Without options, their line is empty.
  return options.length === 0 ? filled.replace('\n\n', '\n') : filled;
}

function meaningsOf(question: Question): readonly (string | undefined)[] {
  switch (question.type) {
    case 'yes-no':
      return [question.yes, question.no];
    case 'scale':
      return question.levels;
    case 'choice':
      return Object.entries(question.choices).map(([name, meaning]) =>
        meaning === null ? name : `${name} (${meaning})`,
      );
  }
}

/** A conversation followed by a question, to be answered anew: a partial answer is not continued. */
export function withQuestion(messages: readonly Message[], text: string): readonly Message[] {
  const last = messages.at(-1);
  return last?.role === 'user'
    ? [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${text}` }]
    : [...messages, { role: 'user', content: text }];
}
