import { Template } from '@huggingface/jinja';
import { EspalierError } from '../../base/errors.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Converts a conversation into the tokens of a prompt. */
export type Chat = (messages: readonly Message[]) => readonly number[];

/**
 * Renders conversations with the chat template of a model.
 *
 * If the last message is from the assistant, the prompt ends with its text, which the answer continues; otherwise it
 * ends with the template's beginning of an answer.
 *
 * The text of a message cannot produce special tokens. The template gets the actual contents with guards: characters
 * that occur in no message, inserted after anything that could begin the name of such a token, and removed again when
 * the text is tokenised. Apart from that, the result is the same as if the rendered text had been tokenised as a whole.
 *
 * @throws EspalierError `usage` if the template cannot be read, or refuses the messages.
 */
export function chatOf({
  tokenizer,
  template,
  model,
}: {
  readonly tokenizer: Tokenizer;
  /** The Jinja template. @defaultValue none: the contents stand one after another, with an empty line between them */
  readonly template?: string | undefined;
  /** The name of the model in error messages. */
  readonly model: string;
}): Chat {
  const render = template === undefined ? renderPlain : renderer(template, { tokenizer, model });
  return (messages) => {
    const contents = messages.map(({ content }) => content);
    const [guard, end] = unusedCharacters([...contents, template ?? '', ...tokenizer.specials]);
    const guarded = messages.map(({ role, content }) => ({
      role,
      content: guardedContent(content, tokenizer.specials, guard),
    }));
    return tokenizer.encode(render(guarded, end), guard);
  };
}

/** Renders messages; a partial answer ends with `end`, which then ends the text. */
type Render = (messages: readonly Message[], end: string) => string;

const renderPlain: Render = (messages) => messages.map(({ content }) => content).join('\n\n');

/**
 * Removes the clock from a template: otherwise prompts, and so samples, would change from day to day. The line break
 * belongs to the statement and is not rendered.
 */
const withoutClock = '{% set strftime_now = undefined %}\n';

function renderer(
  source: string,
  { tokenizer, model }: { readonly tokenizer: Tokenizer; readonly model: string },
): Render {
  const template = attempt(
    () => new Template(`${withoutClock}${source}`),
    `The chat template of ${model} is broken`,
  );
  const { bos: bos_token, eos: eos_token } = tokenizer;
  return (messages, end) => {
    const last = messages.at(-1);
    const isPartial = last?.role === 'assistant';
    const said = isPartial
      ? [...messages.slice(0, -1), { ...last, content: `${last.content}${end}` }]
      : messages;
    const text = attempt(
      () =>
        template.render({
          messages: said,
          bos_token,
          eos_token,
          add_generation_prompt: !isPartial,
        }),
      `The chat template of ${model} refuses the messages`,
    );
    if (!isPartial) return text;
    const place = text.lastIndexOf(end);
    if (place >= 0) return text.slice(0, place);
    throw new EspalierError(
      'usage',
      `The chat template of ${model} leaves out the partial answer that is to be continued.`,
    );
  };
}

function attempt<Value>(act: () => Value, complaint: string): Value {
  try {
    return act();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EspalierError('usage', `${complaint}: ${reason.replace(/\.?$/, '.')}`, {
      cause: error,
    });
  }
}

/** Two characters that occur in none of the texts: Unicode reserves them as noncharacters. */
function unusedCharacters(texts: readonly string[]): readonly [string, string] {
  const unused = Array.from({ length: 32 }, (_, place) =>
    String.fromCharCode(0xfdd0 + place),
  ).filter((character) => !texts.some((text) => text.includes(character)));
  const [guard, end] = unused;
  if (guard !== undefined && end !== undefined) return [guard, end];
  throw new EspalierError(
    'usage',
    'Expected messages without all of the Unicode noncharacters U+FDD0 to U+FDEF, got them all.',
  );
}

/** A content in which no name of a special token begins, and no name that began before it ends. */
function guardedContent(content: string, specials: readonly string[], guard: string): string {
  if (content === '') return content;
  const initials = new Set(specials.map((name) => String.fromCodePoint(name.codePointAt(0) ?? 0)));
  const inner = Array.from(content, (character) =>
    initials.has(character) ? `${character}${guard}` : character,
  ).join('');
  // After leading white space, which a template may remove.
  const text = content.trimStart();
  return endsSpecial(text, specials) ? inner.replace(/^\s*/, (space) => `${space}${guard}`) : inner;
}

/** Whether a text could be the end or the middle of a name. */
function endsSpecial(text: string, specials: readonly string[]): boolean {
  return specials.some((name) =>
    Array.from(name, (_, place) => name.slice(place + 1)).some(
      (rest) => rest !== '' && (text.startsWith(rest) || rest.startsWith(text)),
    ),
  );
}
