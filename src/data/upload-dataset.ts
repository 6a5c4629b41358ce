import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EspalierError } from '../base/errors.ts';
import { expectation, expectText } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';

/** Where a dataset is put. */
export interface UploadOptions {
  /** The folder, as `writeDataset` left it. */
  readonly folder: string;
  /** The repository, as `owner/name`. It is made where there is none. */
  readonly repo: string;
  /** The access token, with leave to write. It goes to the Hub and nowhere else. */
  readonly token: string;
  /** Whether a repository that is made is private. @defaultValue `true` */
  readonly private?: boolean;
  /** The branch. @defaultValue `'main'` */
  readonly branch?: string;
  /** The title of the commit. @defaultValue `'Upload dataset'` */
  readonly title?: string;
  /** The address of the Hub. @defaultValue that of `@huggingface/hub` */
  readonly hubUrl?: string;
  /** Ends the upload when it aborts. */
  readonly signal?: AbortSignal;
  /** Makes the requests. @defaultValue the global `fetch` */
  readonly fetch?: typeof fetch;
}

type Hub = typeof import('@huggingface/hub');

/**
 * Puts a dataset on the Hugging Face Hub, in one commit: all of it, or nothing. Files of the repository that the
 * folder does not have stay there. Needs the package `@huggingface/hub`, an optional peer.
 *
 * @returns the address of the repository.
 * @throws EspalierError `usage` where the package is not installed or an option is not what it should be, `storage`
 *   where the folder cannot be read, and `unavailable` where the Hub refuses or cannot be reached. The token is in
 *   no message.
 */
export async function uploadDataset(options: UploadOptions): Promise<string> {
  expectOptions(
    'uploadDataset',
    options,
    'folder repo token private branch title hubUrl signal fetch',
  );
  const { folder, repo, token, branch = 'main', title = 'Upload dataset' } = options;
  expectText('folder', folder);
  expectText('repo', repo);
  if (!/^[\w.-]+\/[\w.-]+$/.test(repo)) throw expectation('repo', 'owner/name', repo);
  // The value of a token belongs into no message, not even a wrong one.
  if (typeof token !== 'string' || token.trim() === '') {
    const got = typeof token === 'string' ? 'an empty text' : typeof token;
    const hint = typeof token === 'string' ? '.' : ': is HF_TOKEN set?';
    throw new EspalierError('usage', `Expected \`token\` to be an access token, got ${got}${hint}`);
  }
  const hub = await load();
  const paths = filesIn(folder);
  if (!paths.includes('README.md')) {
    throw new EspalierError(
      'storage',
      `There is no dataset in \`${folder}\`: it has no README.md.`,
    );
  }
  const files = paths.map((path) => ({ path, content: pathToFileURL(join(folder, path)) }));
  const designation = { type: 'dataset', name: repo } as const;
  const shared = {
    repo: designation,
    accessToken: token,
    ...(options.hubUrl !== undefined && { hubUrl: options.hubUrl }),
    ...(options.fetch !== undefined && { fetch: options.fetch }),
  };
  try {
    options.signal?.throwIfAborted();
    await make(hub, { ...shared, visibility: options.private === false ? 'public' : 'private' });
    await hub.uploadFiles({
      ...shared,
      files,
      branch,
      commitTitle: title,
      ...(options.signal !== undefined && { abortSignal: options.signal }),
    });
  } catch (cause) {
    options.signal?.throwIfAborted();
    throw refused(cause, { repo, token });
  }
  return `${options.hubUrl ?? hub.HUB_URL}/datasets/${repo}`;
}

async function load(): Promise<Hub> {
  try {
    return await import('@huggingface/hub');
  } catch (cause) {
    throw new EspalierError(
      'usage',
      'Uploading needs the package `@huggingface/hub`: npm install @huggingface/hub',
      { cause },
    );
  }
}

/** A repository that is there already is what is wanted. */
async function make(hub: Hub, params: Parameters<Hub['createRepo']>[0]): Promise<void> {
  try {
    await hub.createRepo(params);
  } catch (error) {
    if ((error as { readonly statusCode?: unknown }).statusCode !== 409) throw error;
  }
}

/** What is half written or hidden is no part of a dataset. */
function filesIn(folder: string): readonly string[] {
  const entries = withStorageErrors(`\`${folder}\``, () =>
    readdirSync(folder, { recursive: true, withFileTypes: true }),
  );
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, sep).length))
    .filter((path) => path.split(sep).every((part) => !part.startsWith('.')))
    .map((path) => path.split(sep).join('/'))
    .toSorted();
}

/** The cause is left out: it holds the request, and with it the token. */
function refused(
  error: unknown,
  { repo, token }: Pick<UploadOptions, 'repo' | 'token'>,
): EspalierError {
  const reason = error instanceof Error ? error.message : String(error);
  const said = reason.replaceAll(token, '…').split('\n', 1)[0] ?? '';
  const sentence = said.replace(/\.$/, '');
  return new EspalierError('unavailable', `The dataset was not uploaded to ${repo}: ${sentence}.`);
}
