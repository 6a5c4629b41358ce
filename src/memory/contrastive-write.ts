import { expectation } from '../base/expect.ts';
import type { CallContext } from '../contracts/context.ts';
import type { Environment } from '../contracts/environment.ts';
import type {
  Completion,
  GenerateRequest,
  LanguageModel,
  Message,
} from '../contracts/language-model.ts';
import type { Reflection } from '../contracts/memory.ts';
import { notationOf } from '../prompting/notation.ts';
import { objectSchema } from '../prompting/object-schema.ts';
import { withInstruction } from '../prompting/prompt-parts.ts';
import { fill } from '../prompting/prompts.ts';
import { toolsShown } from '../prompting/tools-shown.ts';
import type { contrastivePrompts } from './contrastive-prompts.ts';
import { readLesson } from './read-lesson.ts';
import type { Surprise } from './surprise.ts';

const lessonSchema = objectSchema({ lesson: { type: 'string' } });

/** Settings of the requests for lessons. */
export interface WritingSettings {
  readonly model: LanguageModel;
  readonly maxWords: number;
  readonly maxTokens: number;
  readonly prompts: typeof contrastivePrompts;
}

/** One reflection to make. */
export interface Subject<State, Action> {
  readonly kind: Reflection['kind'];
  readonly surprise: Surprise<State, Action>;
  readonly outcome: number;
  readonly context: CallContext;
  readonly environment: Environment<State, Action>;
}

/** A reflection before its lesson is written. */
export type ReflectionContent = Omit<Reflection, 'id' | 'lesson'>;

/** Asks for the lesson of an experience; `undefined` if the answer contains none. */
export async function writeLesson<State, Action>(
  settings: WritingSettings,
  subject: Subject<State, Action>,
  content: ReflectionContent,
): Promise<string | undefined> {
  const messages =
    subject.kind === 'policy'
      ? await afterExpectation(settings, subject, content)
      : judgementPrompt(settings, subject, content);
  if (messages === undefined) return undefined;
  const schema = settings.model.capabilities.schema === true ? { schema: lessonSchema } : {};
  return readLesson(await ask(settings, subject, { messages, ...schema }));
}

/** Asks for the expectation first, before showing anything of the outcome. */
async function afterExpectation<State, Action>(
  settings: WritingSettings,
  subject: Subject<State, Action>,
  content: ReflectionContent,
): Promise<readonly Message[] | undefined> {
  const { texts } = settings.prompts;
  const { parent } = subject.surprise.node;
  if (parent.kind === 'proposed') throw expectation('path', 'nodes with states', parent.kind);
  const question = fill(texts.expect, { action: content.action });
  const before = withInstruction(closed(notationOf(subject).prompt(parent.state)), question);
  const { text } = await ask(settings, subject, { messages: before });
  if (text.trim() === '') return undefined;
  return [
    ...before,
    { role: 'assistant', content: text.trim() },
    { role: 'user', content: fill(texts.learn, whatCame(settings, subject, content)) },
  ];
}

function judgementPrompt<State, Action>(
  settings: WritingSettings,
  subject: Subject<State, Action>,
  content: ReflectionContent,
): readonly Message[] {
  const { texts } = settings.prompts;
  const { state, evaluations } = subject.surprise.node;
  const question = fill(texts.judged, {
    ...whatCame(settings, subject, content),
    judgement: Math.round(100 * subject.surprise.expected),
    reason: evaluations.at(-1)?.rationale?.trim() || texts.noReason,
  });
  return withInstruction(closed(notationOf(subject).prompt(state)), question);
}

/** The slots that both questions share. */
function whatCame<State, Action>(
  { prompts: { texts }, maxWords, model }: WritingSettings,
  { outcome }: Subject<State, Action>,
  content: ReflectionContent,
): Readonly<Record<string, string | number>> {
  return {
    outcome: content.outcome,
    end: outcome > 0.5 ? texts.solved : texts.unsolved,
    words: maxWords,
    form: fill(model.capabilities.schema === true ? texts.asJson : texts.asText, {}),
  };
}

/** A partial answer is presented as part of the question, because it must not be continued. */
function closed(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return messages;
  return withInstruction(messages.slice(0, -1), last.content);
}

async function ask<State, Action>(
  { model, maxTokens }: WritingSettings,
  subject: Subject<State, Action>,
  request: GenerateRequest,
): Promise<Completion> {
  const asked = { ...request, ...toolsShown(notationOf(subject)), maxTokens };
  const { completions } = await subject.context.generate(model, asked);
  const [completion] = completions;
  if (completion === undefined) throw new Error('The model gave no answer.');
  return completion;
}
