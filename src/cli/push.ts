import { environment } from '../backends/transport/environment.ts';
import { EspalierError } from '../base/errors.ts';
import { expectation } from '../base/expect.ts';
import { type UploadOptions, uploadDataset } from '../data/upload-dataset.ts';
import { printError } from './output.ts';

/**
 * Where the dataset is put, known before anything is written.
 *
 * @throws EspalierError `usage` if something is missing.
 */
export function pushOf({
  out,
  push,
  public: isPublic,
}: {
  readonly out: string;
  readonly push?: string;
  readonly public?: boolean;
}): UploadOptions | undefined {
  if (push === undefined) {
    if (isPublic === undefined) return undefined;
    throw new EspalierError('usage', 'Expected `--public` beside `--push`.');
  }
  if (!/^[\w.-]+\/[\w.-]+$/.test(push)) throw expectation('--push', 'owner/name', push);
  const { HF_TOKEN: token = '', HF_ENDPOINT: hubUrl = '' } = environment();
  if (token.trim() === '') {
    throw new EspalierError('usage', '`--push` needs `HF_TOKEN`, a token with write access.');
  }
  return {
    folder: out,
    repo: push,
    token: token.trim(),
    private: isPublic !== true,
    ...(hubUrl !== '' && { hubUrl: hubUrl.replace(/\/+$/, '') }),
  };
}

/** What was written stays, and the export costs nothing: it can be run again. */
export async function pushed(options: UploadOptions): Promise<void> {
  try {
    printError(`Put on the Hub: ${await uploadDataset(options)}`);
  } catch (error) {
    if (!EspalierError.isInstance(error)) throw error;
    throw new EspalierError(
      error.code,
      `${error.message} It stays in \`${options.folder}\`; the same command pushes it again.`,
    );
  }
}
