import type { ModelCall } from '../../contracts/language-model.ts';
import type { Gathering } from './chat-stream.ts';
import { malformed, type WireContext } from './errors.ts';
import { parsedJson } from './json.ts';

/** The longest answer requested without streaming: idle connections are cut after some minutes. */
export const longestInOnePiece = 16_384;

/** How a streamed answer is received. */
export interface Streaming {
  /** Called when more of it has arrived. */
  readonly onPart: () => void;
  /** Whether the text so far is all that will be kept. @defaultValue never: the answer must be complete */
  readonly isOver: ((text: string) => boolean) | undefined;
}

/** Whether an answer is streamed because other requests wait for its beginning, and the listener for its parts. */
export function listening(
  { began }: Pick<ModelCall, 'began'>,
  onPart: () => void,
): Pick<Streaming, 'onPart'> & { readonly isStreamed: boolean } {
  if (began === undefined) return { onPart, isStreamed: false };
  const hear = () => {
    onPart();
    began();
  };
  return { onPart: hear, isStreamed: true };
}

/** The context of a stream, and the listener for its parts. */
export interface Listening extends Pick<Streaming, 'onPart'> {
  readonly context: WireContext;
}

/** The reply assembled from a stream of events. @throws ModelCallError `malformed` if it breaks off. */
export async function gathered(
  events: AsyncIterable<unknown>,
  gathering: Gathering,
  { context, onPart }: Listening,
): Promise<unknown> {
  for await (const event of events) {
    onPart();
    gathering.add(event);
  }
  const reply = gathering.reply();
  if (reply === undefined) throw malformed(context, 'a stream that broke off');
  return reply;
}

/** The events of a stream: JSON, on each line that begins with `data:`. */
export async function* eventsIn(
  parts: AsyncIterable<string>,
  { context, onPart }: Listening,
): AsyncGenerator<unknown, void> {
  let rest = '';
  for await (const part of parts) {
    // Anything else, such as a comment, shows that the server is still there.
    onPart();
    const [first = '', ...others] = part.split('\n');
    const lines = [rest + first, ...others];
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = dataOf(line);
      if (data === '[DONE]') return;
      if (data === '') continue;
      const event = parsedJson(data);
      if (event === undefined) throw malformed(context, 'a stream with broken JSON in it');
      yield event;
    }
  }
}

function dataOf(line: string): string {
  return line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
}
