import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EspalierError } from '../../base/errors.ts';
import { describeValue, expectation, expectInteger, expectObjects } from '../../base/expect.ts';
import { expectCapabilities } from '../../base/expect-capabilities.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Journal } from '../../calls/journal.ts';
import { readJournal } from '../../calls/journal-file.ts';
import type { JournalLine } from '../../calls/journal-lines.ts';
import type {
  Capabilities,
  GenerateRequest,
  LanguageModel,
} from '../../contracts/language-model.ts';
import { type Recording, recordingsOf } from './recording.ts';

/**
 * Replays a model from the journal of a run. A sample is found by its request and index, however many were bought
 * together, and returned as recorded. So a search with another algorithm can reuse paid samples.
 *
 * Prompts have the recorded token counts. The usage is the recorded one, reported with the first sample of its request,
 * at no cost: it has been paid. A failed call fails again, with the recorded message.
 *
 * @throws EspalierError `usage` if the journal has no such model, or several and none is chosen; `storage` or
 * `invalid-journal` if it cannot be read. A request rejects with `unrecorded` if it is not in the journal.
 *
 * @example
 * ```ts
 * const model = replay({ journal: 'runs/first' });
 * ```
 */
export function replay(options: {
  /** The journal: the path of a file or of a run folder, a journal, or its lines. */
  readonly journal: string | Pick<Journal, 'lines'> | readonly JournalLine[];
  /**
   * The model to replay, as `provider:modelId` or by name alone.
   *
   * @defaultValue the only one in the journal
   */
  readonly model?: string;
  /**
   * The capabilities of the recorded model, if its requests did not use them all. Policies may phrase requests
   * differently for other capabilities.
   *
   * @defaultValue the capabilities used by the recorded requests
   */
  readonly capabilities?: Capabilities;
}): LanguageModel {
  expectOptions('replay', options, 'journal model capabilities');
  const { journal, model, capabilities = {} } = options;
  expectCapabilities('capabilities', capabilities);
  const recordings = recordingsOf(linesOf(journal));
  const recording = chosen(recordings, model);
  const { provider, modelId } = recording;
  const honoured = { ...recording.capabilities, ...capabilities };
  return {
    provider,
    modelId,
    capabilities: honoured,
    price: { input: 0, output: 0 },
    ...(recording.counts && { count: (request: GenerateRequest) => recording.count(request) }),
    async generate(request, { signal }) {
      const { samples = 1, offset = 0, ...content } = request;
      // The caller may abort before the promise is used.
      await Promise.resolve();
      signal.throwIfAborted();
      expectInteger('samples', samples, { min: 1 });
      expectInteger('offset', offset, { min: 0 });
      return recording.play(content, [offset, samples]);
    },
  };
}

function linesOf(journal: Parameters<typeof replay>[0]['journal']): Iterable<JournalLine> {
  if (typeof journal === 'string') return readJournal(fileOf(journal)).lines;
  if (Array.isArray(journal)) {
    expectObjects('journal', journal);
    return journal as readonly JournalLine[];
  }
  if (typeof journal === 'object' && (journal as unknown) !== null && 'lines' in journal) {
    return journal.lines;
  }
  throw expectation('journal', 'the path of a journal or of a run folder, or a journal', journal);
}

function fileOf(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) return path;
  const file = join(path, 'journal.jsonl');
  const many = join(path, 'journals');
  if (!existsSync(file) && existsSync(many)) {
    throw new EspalierError(
      'usage',
      `\`${path}\` holds a run over many problems, with a journal for each search. Name one of the files in \`${many}\`.`,
    );
  }
  return file;
}

function chosen(recordings: readonly Recording[], model: string | undefined): Recording {
  const [only, ...others] = recordings.filter(
    ({ name, modelId }) => model === undefined || name === model || modelId === model,
  );
  if (only !== undefined && others.length === 0) return only;
  const names = recordings.map(({ name }) => `'${name}'`);
  if (names.length === 0) {
    throw new EspalierError(
      'usage',
      'Expected `journal` to contain answers of a language model, got a journal without any.',
    );
  }
  throw new EspalierError(
    'usage',
    `Expected \`model\` to be ${names.join(' or ')}, which the journal contains, got ${describeValue(model)}.`,
  );
}
