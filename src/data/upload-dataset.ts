import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { EspalierError } from '../base/errors.ts';
import { expectation, expectInteger, expectText } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { completeExport } from './dataset-folder.ts';
import { declaredFiles } from './front-matter.ts';
import { matchesPattern } from './glob.ts';
import { heardFetch } from './heard-fetch.ts';

/** Options of {@link uploadDataset}. */
export interface UploadOptions {
  /** The folder written by `writeDataset`. */
  readonly folder: string;
  /** The repository, as `owner/name`, created if needed. */
  readonly repo: string;
  /** The access token, with write permission. It is sent only to the Hub. */
  readonly token: string;
  /** Whether a new repository is private. @defaultValue `true` */
  readonly private?: boolean;
  /** The branch. @defaultValue `'main'` */
  readonly branch?: string;
  /** The title of the commit. @defaultValue `'Upload dataset'` */
  readonly title?: string;
  /** The address of the Hub. @defaultValue that of `@huggingface/hub` */
  readonly hubUrl?: string;
  /** Aborts the upload. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time the Hub may be silent, in milliseconds, counted from the last byte sent or received: an integer from 1 up.
   *
   * @defaultValue 120,000
   */
  readonly timeoutMs?: number;
  /** Sends the requests. @defaultValue the global `fetch` */
  readonly fetch?: typeof fetch;
}

type Hub = typeof import('@huggingface/hub');

/**
 * Uploads a dataset to the Hugging Face Hub in one commit, all or nothing: the card, the files it lists and
 * LLaMA-Factory's `dataset_info.json`, streamed from disk. Other files of the repository are kept. If the Hub asks to
 * wait (status 429 or 503), a request is tried up to five times, at most a minute apart. Needs the package
 * `@huggingface/hub`, an optional peer.
 *
 * @returns the address of the repository.
 * @throws EspalierError `usage` if the package is not installed or an option is invalid, `storage` if the folder cannot
 * be read, and `unavailable` if the Hub refuses, is silent for too long or is unreachable. No message quotes the Hub, so
 * none can leak the token.
 */
export async function uploadDataset(options: UploadOptions): Promise<string> {
  expectOptions(
    'uploadDataset',
    options,
    'folder repo token private branch title hubUrl signal timeoutMs fetch',
  );
  const { folder, repo, token, branch = 'main', title = 'Upload dataset' } = options;
  const { timeoutMs = 120_000 } = options;
  expectText('folder', folder);
  expectInteger('timeoutMs', timeoutMs, { min: 1 });
  expectText('repo', repo);
  if (!/^[\w.-]+\/[\w.-]+$/.test(repo)) throw expectation('repo', 'owner/name', repo);
  // The value of a token belongs into no message, not even a wrong one.
  if (typeof token !== 'string' || token.trim() === '') {
    const got = typeof token === 'string' ? 'an empty text' : typeof token;
    const hint = typeof token === 'string' ? '.' : ': is HF_TOKEN set?';
    throw new EspalierError('usage', `Expected \`token\` to be an access token, got ${got}${hint}`);
  }
  const hub = await load();
  const files = filesOf(folder).map((path) => ({
    path,
    content: pathToFileURL(join(folder, path)),
  }));
  const { hubUrl = hub.HUB_URL, signal } = options;
  const { ask: send, fellSilent } = heardFetch(options.fetch ?? fetch, timeoutMs);
  const { ask, waitMs } = asking({ fetch: send, signal });
  const shared = {
    repo: { type: 'dataset', name: repo },
    accessToken: token,
    hubUrl,
    fetch: ask,
  } as const;
  const visibility = options.private === false ? 'public' : 'private';
  try {
    signal?.throwIfAborted();
    await patiently({ waitMs, signal }, () => make(hub, { ...shared, visibility }));
    await patiently({ waitMs, signal }, async () => {
      const made: unknown = await hub.uploadFiles({
        ...shared,
        files,
        branch,
        commitTitle: title,
        ...(signal !== undefined && { abortSignal: signal }),
      });
      expectCommit(made);
    });
  } catch (error) {
    signal?.throwIfAborted();
    const silence = fellSilent() ? `the Hub was silent for ${timeoutMs / 1000} s` : undefined;
    throw refused(error, repo, silence);
  }
  return `${hubUrl}/datasets/${repo}`;
}

/** Whatever a proxy answers in the place of the Hub names no commit. */
function expectCommit(made: unknown): void {
  const { commit } = Object(made) as { readonly commit?: { readonly oid?: unknown } };
  if (typeof commit?.oid !== 'string' || commit.oid === '') throw new Error('No commit was made.');
}

/** How often a request is made at most, where the Hub asks to wait. */
const mostTries = 5;
/** A wait is no longer than this, in milliseconds, whatever the Hub says. */
const longestWait = 60_000;

/**
 * Sends the requests of the package, each with the signal. The text that the Hub sends with a failure is not read: it
 * may be of any length and contain the token.
 */
function asking({
  fetch: send,
  signal,
}: {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal | undefined;
}): {
  readonly ask: typeof fetch;
  /** How long the Hub last asked to wait, in milliseconds; `undefined` if it did not say. */
  readonly waitMs: () => number | undefined;
} {
  let wait: number | undefined;
  return {
    waitMs: () => wait,
    ask: async (input, init = {}) => {
      const signals = [signal, init.signal].filter((each) => each !== undefined && each !== null);
      const response = await send(input, { ...init, signal: AbortSignal.any(signals) });
      if (response.ok) return response;
      wait = secondsIn(response.headers.get('retry-after'));
      await response.body?.cancel();
      return Response.json({}, { status: response.status });
    },
  };
}

/** A date is no wait that is known: clocks differ. */
function secondsIn(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) * 1000 : undefined;
}

/** Retries the requests that the Hub asked to delay. */
async function patiently(
  how: { readonly waitMs: () => number | undefined; readonly signal: AbortSignal | undefined },
  act: () => Promise<unknown>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await act();
      return;
    } catch (error) {
      if (tries === mostTries || ![429, 503].includes(statusOf(error) ?? 0)) throw error;
      const ms = Math.min(how.waitMs() ?? 1000 * 2 ** (tries - 1), longestWait);
      await setTimeout(ms, undefined, how.signal && { signal: how.signal });
    }
  }
}

function statusOf(error: unknown): number | undefined {
  const status = (error as { readonly statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
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

/** An existing repository is fine. */
async function make(hub: Hub, params: Parameters<Hub['createRepo']>[0]): Promise<void> {
  try {
    await hub.createRepo(params);
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
  }
}

/**
 * The card, the files that it lists, and the file that lists them for LLaMA-Factory: other files there do not belong to
 * the dataset.
 */
function filesOf(folder: string): readonly string[] {
  return withStorageErrors(`\`${folder}\``, () => {
    completeExport(folder);
    const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, sep).length))
      .map((path) => path.split(sep).join('/'));
    if (!paths.includes('README.md')) {
      throw new EspalierError(
        'storage',
        `There is no dataset in \`${folder}\`: it has no README.md.`,
      );
    }
    const listed = declaredFiles(readFileSync(join(folder, 'README.md'), 'utf8'));
    const data = paths.filter((path) =>
      listed.some(({ pattern }) => matchesPattern(path, pattern)),
    );
    const infos = new Set(data.map((path) => posix.join(posix.dirname(path), 'dataset_info.json')));
    return ['README.md', ...data, ...paths.filter((path) => infos.has(path))].toSorted();
  });
}

const reasons: Readonly<Record<number, string>> = {
  401: 'it does not know the access token',
  403: 'the access token may not write there',
  404: 'there is no such owner or branch, or the access token may not see it',
  413: 'a file is too large',
  429: 'too many requests were made: try again later',
};

/** Without the cause, and without a word of the Hub: both may hold the token. */
function refused(error: unknown, repo: string, silence: string | undefined): EspalierError {
  const status = statusOf(error);
  const reason = status === undefined ? undefined : reasons[status];
  const why =
    silence ??
    (status === undefined
      ? 'the Hub could not be reached, broke off, or answered in a way that cannot be read or names no commit'
      : `the Hub answered with status ${status}${reason === undefined ? '' : `, ${reason}`}`);
  return new EspalierError('unavailable', `The dataset was not uploaded to ${repo}: ${why}.`);
}
