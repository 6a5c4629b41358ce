/** llama.cpp in this process, through `node-llama-cpp`: what our own runner is compared with. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = join(import.meta.dirname, '../verify/llama-cpp');
const modules = join(folder, 'node_modules');

/** The packages with a binary for the processor, by platform. */
const binaries: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'mac-x64',
  // There is no binary without Metal. It runs on the processor as no layer is given to the GPU.
  'darwin-arm64': 'mac-arm64-metal',
  'win32-x64': 'win-x64',
  'win32-arm64': 'win-arm64',
};

/** What is used of a model. Its file decides how its matrices are multiplied. */
export interface LlamaModel {
  /** Cuts a text into tokens; no token is put before it. Names of special tokens are such or text. */
  tokenize(text: string, special: boolean): readonly number[];
  /** Makes room for sequences. */
  createContext(options: LlamaContextOptions): Promise<LlamaContext>;
  dispose(): Promise<void>;
}

/** What is used of the options of a context. */
export interface LlamaContextOptions {
  /** How many sequences are read and written at once. */
  readonly sequences: number;
  /** How many tokens each may have, and one more. */
  readonly contextSize: number;
  readonly batchSize?: number;
  readonly flashAttention?: boolean;
  readonly experimentalKvCacheKeyType?: 'F16' | 'F32';
  readonly experimentalKvCacheValueType?: 'F16' | 'F32';
  /** More threads than cores make it many times slower, and so does a second one for small models. */
  readonly threads: 1;
  readonly performanceTracking: boolean;
}

/** What is used of a context. */
export interface LlamaContext {
  getSequence(): LlamaSequence;
  printTimings(): Promise<void>;
  dispose(): Promise<void>;
}

/** What is used of a sequence. */
export interface LlamaSequence {
  /** How many tokens it holds. */
  readonly nextTokenIndex: number;
  /** The tokens that went through the model. */
  readonly tokenMeter: { readonly usedInputTokens: number; readonly usedOutputTokens: number };
  clearHistory(): Promise<void>;
  /** Forgets what comes after the longest common prefix. */
  adaptStateToTokens(tokens: readonly number[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void>;
  evaluate(tokens: readonly number[], options: LlamaSampling): AsyncIterable<number>;
  controlledEvaluate(
    tokens: readonly [token: number, { readonly generateNext: { readonly logits: true } }][],
  ): Promise<readonly ({ readonly next: { readonly logits?: Map<number, number> } } | undefined)[]>;
  /** Internal in this version, but public in what it does: llama.cpp's own way to fork a sequence. */
  _copyStateFromOtherSequence(other: LlamaSequence, length: number): Promise<boolean>;
}

/** How tokens are drawn. */
export interface LlamaSampling {
  readonly temperature: number;
  /** 0: all. */
  readonly topK: 0;
  readonly topP: 1;
  readonly seed: number;
  /** Whether the token that ends a text is told as well. */
  readonly yieldEogToken: true;
}

interface Llama {
  readonly llamaCppRelease: { readonly release: string };
  loadModel(options: { readonly modelPath: string; readonly gpuLayers: 0 }): Promise<LlamaModel>;
}

interface Binding {
  getLlama(options: {
    readonly build: 'never';
    readonly skipDownload: true;
    readonly gpu: false | 'metal';
    readonly maxThreads: 1;
    readonly logLevel: 'info';
    readonly logger: (level: string, message: string) => void;
  }): Promise<Llama>;
}

/** llama.cpp, on one thread. */
export class LlamaCpp {
  /** Its version. */
  readonly version: string;
  readonly #llama: Llama;
  readonly #messages: string[];

  private constructor(llama: Llama, messages: string[]) {
    this.version = `llama.cpp ${llama.llamaCppRelease.release} in node-llama-cpp ${wantedVersion()}`;
    this.#llama = llama;
    this.#messages = messages;
  }

  /** Starts it; installs it first where that has not been done. */
  static async open(): Promise<LlamaCpp> {
    install();
    const entry = join(modules, 'node-llama-cpp/dist/index.js');
    const binding = (await import(pathToFileURL(entry).href)) as Binding;
    const messages: string[] = [];
    const llama = await binding.getLlama({
      build: 'never',
      skipDownload: true,
      gpu: platform() === 'darwin-arm64' ? 'metal' : false,
      maxThreads: 1,
      logLevel: 'info',
      logger: (level, message) => {
        if (/error|fatal/.test(level)) process.stderr.write(`${message}\n`);
        if (message.includes('llama_perf_context_print')) messages.push(message);
      },
    });
    return new LlamaCpp(llama, messages);
  }

  /** Reads a file. */
  load(path: string): Promise<LlamaModel> {
    return this.#llama.loadModel({ modelPath: path, gpuLayers: 0 });
  }

  /** The seconds since the last call that llama.cpp counted in itself: the overhead of the binding is not in them. */
  async ownSeconds(context: LlamaContext): Promise<number> {
    await context.printTimings();
    const found = this.#messages
      .splice(0)
      .map((message) => /eval time =\s*([\d.]+) ms/.exec(message)?.[1] ?? '0');
    return found.reduce((sum, milliseconds) => sum + Number(milliseconds) / 1_000, 0);
  }
}

function platform(): string {
  return `${process.platform}-${process.arch}`;
}

function wantedVersion(): string {
  const { dependencies } = readJson(join(folder, 'package.json'));
  return dependencies?.['node-llama-cpp'] ?? '';
}

function install(): void {
  const binary = binaries[platform()];
  if (binary === undefined) throw new Error(`node-llama-cpp has no binary for ${platform()}.`);
  const version = wantedVersion();
  const packages = ['node-llama-cpp', `@node-llama-cpp/${binary}`];
  const isThere = packages.every((name) => {
    const manifest = join(modules, name, 'package.json');
    return existsSync(manifest) && readJson(manifest).version === version;
  });
  if (isThere) return;
  process.stdout.write(`Installing node-llama-cpp ${version} into ${folder} …\n`);
  // Without the optional packages: they are the binaries of all platforms and GPUs, 640 MB.
  const flags = ['--no-save', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync(
    'npm',
    ['install', '--silent', '--prefix', folder, ...flags, `${packages[1]}@${version}`],
    { stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' },
  );
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function readJson(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}
