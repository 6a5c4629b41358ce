/**
 * Every code block of the README and of the guides, as it stands there. All of TypeScript is compiled against what is built;
 * that and the commands of the shell are run, those of one guide in order and in one folder, with emulated servers behind the
 * models that they name. What a block leaves out, such as imports, comes from earlier blocks, `tests/guides` or the package.
 * With `--python` or `--why` the blocks of the guides on datasets and training, and those in Python and YAML among them, by the trainers
 * that `make -C training trainers` installs.
 *
 *     node --import tsx tests/verify/guides.ts [<guide> …] [--python <program> --llama-factory <its packages>] [--why <reason>]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { emulator } from '../../src/testing/index.ts';
import { blocksOf, type GuideBlock } from '../support/guide-blocks.ts';
import { completed, type GuideModule, preparations } from '../support/guide-imports.ts';
import { answerOfGuides, writeGuideFiles } from '../support/guide-world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const trainers = join(root, 'training/verify');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: 'string' },
    'llama-factory': { type: 'string' },
    why: { type: 'string' },
  },
});
const llamaFactory = values['llama-factory'];
const { python, why = 'a trainer, run by make -C training trainers' } = values;

const forTrainers = ['datasets', 'training'].map((name) => `docs/guides/${name}.md`);
const allGuides = [
  'README.md',
  ...readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`),
];
const named = ({ guide }: GuideBlock) => positionals.length === 0 || positionals.includes(guide);
const blocks = ((python ?? values.why) === undefined ? allGuides : forTrainers).flatMap((path) =>
  blocksOf(join(root, path)).filter(named),
);

/** How long a block may take, in milliseconds. */
const timeout = 300_000;

type Ran = readonly [code: number | null, output: string];

async function run(
  [program, ...args]: readonly [program: string, ...args: string[]],
  cwd: string,
  more: NodeJS.ProcessEnv = {},
): Promise<Ran> {
  const child = spawn(program, args, { cwd, timeout, env: { ...env, ...surroundings, ...more } });
  child.stdin.end();
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => (output += String(piece)));
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    output += String(error);
    return [null];
  })) as [number | null];
  return [code, output];
}

/** The folder of a guide's blocks. That on training goes on with what the one on datasets has made. */
const folderOf = (guide: string): string => join(folder, guide === 'training' ? 'datasets' : guide);

const extensions: Readonly<Record<string, string>> = { python: 'py' };

/** A block in its file, with the servers that run here in place of those that it names. */
function moduleOf(block: GuideBlock, index: number): GuideModule {
  const { guide, language } = block;
  const file = `block-${index + 1}`;
  const text = block.text
    .replaceAll('localhost:8000', new URL(vllm.url).host)
    .replaceAll('ollama:qwen3', `ollama:${ollama.url}/v1#qwen3`)
    // The benchmarks that the guides show take minutes.
    .replaceAll('--limit 150', '--limit 1')
    .replaceAll('limit: 150', 'limit: 1')
    .replaceAll('tokens=500,1k,2k', 'tokens=500')
    .replaceAll('[500, 1k, 2k]', '[1k]')
    .replaceAll('tokens=8k,16k,32k --seeds 3', 'tokens=8k')
    .replaceAll('@8k', '@1k');
  const ownName = `${file}.${extensions[language] ?? language}`;
  writeFileSync(join(folderOf(guide), block.file ?? ownName), text);
  const { example, skip, types } = block;
  const mayBeImported = language === 'ts' && (example ?? skip ?? types) === undefined;
  return { guide, file, text, mayBeImported };
}

async function compile(project = 'tsconfig.json'): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const [, output] = await run([execPath, tsc, '-p', project, '--pretty', 'false'], folder);
  return output;
}

/** What the compiler says of each block: nothing where it stands. */
async function compileAll(modules: readonly GuideModule[]): Promise<ReadonlyMap<string, string>> {
  const compiled = modules.filter((_, index) => {
    const { language, skip, example } = blocks[index] ?? {};
    return language === 'ts' && (skip ?? example) === undefined;
  });
  const errors = /^[\w-]+\/(block-\d+)\.ts\((\d+),.*?error (TS\d+): (.*)$/gm;
  const missing = new Map<string, Set<string>>();
  let output = await compile();
  // A file that cannot be parsed keeps the compiler from looking at what the others mean.
  const unread = [...output.matchAll(errors)].filter(([, , , code]) =>
    /^TS1\d{3}$/.test(code ?? ''),
  );
  for (const { guide, file } of compiled)
    if (unread.some(([, named]) => named === file))
      writeFileSync(join(folderOf(guide), `${file}.ts`), 'export {};');
  if (unread.length > 0) output = await compile();
  for (const [, file = '', , , message = ''] of output.matchAll(errors)) {
    const [, name] =
      /^(?:Cannot find name|No value exists in scope for the shorthand property) '(\w+)'/.exec(
        message,
      ) ?? [];
    if (name === undefined) continue;
    missing.set(file, (missing.get(file) ?? new Set()).add(name));
  }
  for (const block of compiled) {
    const text = completed(block, missing.get(block.file) ?? new Set(), modules);
    writeFileSync(join(folderOf(block.guide), `${block.file}.ts`), text);
  }
  const said = new Map<string, string>();
  output = `${await compile()}\n${await compile('tsconfig.plain.json')}`;
  for (const [, file = '', line = '', code = '', message = ''] of output.matchAll(errors))
    said.set(file, `${said.get(file) ?? ''}line ${line}: ${code} ${message}\n`);
  return said;
}

/** Runs a block, or says in a sentence why not. */
type Runner = (file: string, cwd: string) => Promise<Ran> | string;

/**
 * Programs of packages are found by their names, as in the scripts of npm. With a socket for its input, bash takes itself for a
 * remote shell and reads the settings of the machine, unless `--norc` forbids it.
 */
const asInstalled = 'PATH="$PWD/../node_modules/.bin:$PATH"; source "$0"';

const runners: Readonly<Record<string, Runner>> = {
  sh: (file, cwd) =>
    /\bnpm (?:install|i|ci)\b/.test(readFileSync(join(cwd, `${file}.sh`), 'utf8'))
      ? 'installs from the registry'
      : run(['bash', '--norc', '-euo', 'pipefail', '-c', asInstalled, `./${file}.sh`], cwd),
  ts: (file, cwd) => run([execPath, `${file}.js`], cwd),
  json: (file, cwd) =>
    run([execPath, '-p', `JSON.parse(fs.readFileSync('${file}.json', 'utf8'))`], cwd),
  python: (file, cwd) =>
    python === undefined ? why : run([python, '-W', 'ignore', `${file}.py`], cwd),
  yaml: (file, cwd) => {
    if (python === undefined) return why;
    if (llamaFactory === undefined) return 'LLaMA-Factory could not be installed';
    const path = [llamaFactory, trainers].join(delimiter);
    const program = join(trainers, 'guide_yaml.py');
    return run([python, program, `${file}.yaml`], cwd, { PYTHONPATH: path });
  },
};

/** What a newcomer has: a clone of the package, a model, and what the guides say to copy. */
async function prepare(): Promise<void> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  // As npm links the program of an installed package, for npx.
  const program = `#!/bin/sh\nexec node ${JSON.stringify(join(root, 'dist/cli/main.js'))} "$@"\n`;
  writeFileSync(join(folder, 'node_modules/.bin/espalier'), program, { mode: 0o755 });
  // Each package alone: who removes one of these removes a link, and nothing of what all clones share.
  for (const name of ['zod', 'openai', '@anthropic-ai/sdk', '@types/node']) {
    mkdirSync(join(folder, 'node_modules', dirname(name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'dir');
  }
  symlinkSync(root, join(folder, 'node_modules/espalier'), 'dir');
  const compilerOptions = {
    // As who installs the package: against what is built.
    customConditions: [],
    isolatedDeclarations: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    ...{ declaration: false, declarationMap: false, sourceMap: false, noEmit: false },
  };
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*/*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  // Most people set no more than `strict`.
  const plain = {
    compilerOptions: {
      ...{ strict: true, target: 'es2023', lib: ['es2023', 'esnext.disposable'] },
      ...{ module: 'nodenext', types: ['node'], skipLibCheck: true },
      ...{ noEmit: true, allowImportingTsExtensions: true },
    },
    include: ['*/*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.plain.json'), JSON.stringify(plain));
  mkdirSync(join(folder, 'guides'));
  for (const { guide } of blocks) {
    if (!existsSync(folderOf(guide))) writeGuideFiles(folderOf(guide));
    for (const name of preparations(guide))
      copyFileSync(join(root, 'tests/guides', `${name}.ts`), join(folder, 'guides', `${name}.ts`));
  }
  const data = folderOf('datasets');
  if (!existsSync(data)) return;
  for (const name of ['recipes.py', 'qwen_style.jinja'])
    copyFileSync(join(trainers, name), join(data, name));
  mkdirSync(join(data, 'model'));
  copyFileSync(join(trainers, 'qwen_style.jinja'), join(data, 'model/chat_template.jinja'));
  if (python === undefined) return;
  const [code, output] = await run([python, join(trainers, 'guide_model.py'), 'model'], data);
  if (code !== 0) throw new Error(output);
}

const folder = mkdtempSync(join(tmpdir(), 'espalier-guides-'));
const vllm = await emulator({ dialect: 'vllm', models: ['emulated'], answer: answerOfGuides });
const ollama = await emulator({ dialect: 'ollama', models: ['qwen3'], answer: answerOfGuides });
const anthropic = await emulator({
  dialect: 'anthropic',
  models: ['claude-haiku-5-5', 'claude-sonnet-5-5'],
  answer: answerOfGuides,
});
const openai = await emulator({
  dialect: 'openai',
  models: ['gpt-6-luna'],
  answer: answerOfGuides,
});
const surroundings = {
  ...{ ANTHROPIC_API_KEY: 'emulated', ANTHROPIC_BASE_URL: anthropic.url },
  ...{ OPENAI_API_KEY: 'emulated', OPENAI_BASE_URL: `${openai.url}/v1` },
  OPENROUTER_API_KEY: 'emulated',
  npm_config_offline: 'true',
  // Nothing of the machine, such as an accelerator, changes what the blocks do.
  ACCELERATE_USE_CPU: 'true',
  HF_HUB_OFFLINE: '1',
  HF_HOME: join(folder, '.cache'),
};
const counts = { run: 0, examples: 0, types: 0, skipped: 0, failed: 0 };

/** Runs a block, counts it, and says how it went. */
async function judge(block: GuideBlock, module: GuideModule, wrong?: string): Promise<string> {
  const { guide, language, example, file, skip, types } = block;
  const count = (kind: keyof typeof counts, text: string): string => {
    counts[kind] += 1;
    return text;
  };
  if (example !== undefined) return count('examples', `ok      a part of ${example}`);
  if (skip !== undefined) return count('skipped', `skipped ${skip}`);
  if (file !== undefined) return count('run', `ok      ${file}, which other blocks use`);
  if (wrong !== undefined) return count('failed', `FAILED  to compile\n${wrong}`);
  if (types !== undefined) return count('types', `types   ${types}`);
  const started = performance.now();
  const ran = await (runners[language]?.(module.file, folderOf(guide)) ??
    `nothing runs ${language}`);
  if (typeof ran === 'string') return count('skipped', `skipped ${ran}`);
  const [code, output] = ran;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (code === 0 && block.prints !== undefined && output.trim() !== block.prints)
    return count('failed', `FAILED  prints\n${output.trimEnd()}`);
  if (code !== 0) return count('failed', `FAILED  ${seconds} s\n${output.trimEnd()}`);
  return count('run', `ok      ${seconds} s`);
}

try {
  await prepare();
  const modules = blocks.map(moduleOf);
  const wrong = await compileAll(modules);
  for (const [index, block] of blocks.entries()) {
    const module = modules[index];
    if (module === undefined) continue;
    const said = await judge(block, module, wrong.get(module.file));
    process.stdout.write(`${block.at} ${block.language}: ${said}\n`);
  }
  const data = join(folderOf('datasets'), 'data');
  for (const name of existsSync(data) ? readdirSync(data) : []) {
    const card = readFileSync(join(data, name, 'README.md'), 'utf8');
    if (/^[1-9]\d* rows? made by/m.test(card)) continue;
    counts.failed += 1;
    process.stdout.write(`FAILED  the dataset data/${name} has no rows\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
  for (const server of [vllm, ollama, anthropic, openai]) await server.close();
}
process.stdout.write(
  `guides: ${blocks.length} blocks: ${counts.run} run, ${counts.examples} run as parts of examples, ` +
    `${counts.types} type-checked only, ${counts.skipped} skipped, ${counts.failed} failed\n`,
);
if (counts.failed > 0) process.exitCode = 1;
