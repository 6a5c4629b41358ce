import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { algorithms } from '../src/index.ts';
import { methods } from '../src/methods/index.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const parts = readFileSync(join(root, 'docs/parts.md'), 'utf8');

const programs = ['examples/01-search-a-puzzle.ts', 'examples/11-search-over-tools.ts'];

test.each(programs)('the README has the program %s, which CI runs', (path) => {
  const example = readFileSync(join(root, path), 'utf8');
  const [, program] = readme.split(`<!-- ${path} -->\n\`\`\`ts\n`);
  expect(program?.split('```')[0]).toBe(example.slice(example.indexOf('import')));
});

test('the programs of the README compile with `strict` alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-readme-'));
  try {
    const compilerOptions = {
      ...{ strict: true, target: 'es2023', lib: ['es2023', 'esnext.disposable'] },
      ...{ module: 'nodenext', types: ['node'], customConditions: ['espalier-source'] },
      typeRoots: [join(root, 'node_modules/@types')],
      ...{ noEmit: true, allowImportingTsExtensions: true },
    };
    const files = programs.map((path) => join(root, path));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [tsc, '-p', folder, '--pretty', 'false'],
      {
        encoding: 'utf8',
      },
    );
    // The sources need stricter options; whoever installs the package has its declarations instead.
    const errors = stdout.split('\n').filter((line) => /error TS/.test(line));
    expect(errors.filter((line) => !/^(?:\S+\/)?(?:src|node_modules)\//.test(line))).toEqual([]);
    expect(stderr).toBe('');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the first program of the README prints what stands below it', () => {
  const [, printed] = /```text\n(.*?)```/s.exec(readme) ?? [];
  const told = execFileSync(
    process.execPath,
    ['--import', 'tsx', '--conditions=espalier-source', 'examples/01-search-a-puzzle.ts'],
    { cwd: root, encoding: 'utf8' },
  );
  expect(told).toBe(printed);
});

test.each([
  ['values', /<!-- (examples\/\S+) -->\n```ts\n(.*?)```/gs, 1],
  ['tools', /(?:<!-- (examples\/\S+) -->\n)?```ts\n(.*?)```/gs, 8],
] as const)(
  'the code in the guide on %s is a part of an example, which CI runs',
  (name, block, count) => {
    const guide = readFileSync(join(root, `docs/guides/${name}.md`), 'utf8');
    const blocks = [...guide.matchAll(block)];
    expect(blocks).toHaveLength(count);
    for (const [, path = '', code = ''] of blocks) {
      expect(readFileSync(join(root, path), 'utf8')).toContain(code);
    }
  },
);

test('what a guide shows of an example is a part of it', () => {
  const guides = join(root, 'docs/guides');
  const shown = readdirSync(guides).flatMap((name) => [
    ...readFileSync(join(guides, name), 'utf8').matchAll(
      /<!-- (examples\/\S+) -->\n```ts\n(.*?)```/gs,
    ),
  ]);
  expect(shown.length).toBeGreaterThan(2);
  for (const [, path = '', part = ''] of shown) {
    expect(readFileSync(join(root, path), 'utf8')).toContain(part);
  }
});

test('the README links to every guide', () => {
  for (const name of readdirSync(join(root, 'docs/guides'))) {
    expect(readme).toContain(`](docs/guides/${name})`);
  }
});

test('the guide on benchmarking has all options of `compare`', () => {
  const source = readFileSync(join(root, 'src/bench/compare-options.ts'), 'utf8');
  const guide = readFileSync(join(root, 'docs/guides/benchmarking.md'), 'utf8');
  const [, options = ''] = /interface CompareOptions \{(.*?)\n\}/s.exec(source) ?? [];
  const names = [...options.matchAll(/^ {2}readonly (\w+)/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(15);
  const rows = guide.split('\n').filter((line) => line.startsWith('| `'));
  for (const name of names)
    expect(
      rows.some((row) => row.includes(`\`${name}\``)),
      name,
    ).toBe(true);
});

test.each([
  ['Error codes', /EspalierErrorCode =(.*?);/s, 'base/errors.ts'],
  ['Failed model calls', /ModelCallErrorKind =(.*?);/s, 'base/errors.ts'],
  ['Failure kinds', /readonly kind:(.*?);/s, 'contracts/failure.ts'],
])('the guide to what goes wrong has all that the code has: %s', (heading, declared, source) => {
  const guide = readFileSync(join(root, 'docs/guides/when-something-goes-wrong.md'), 'utf8');
  const [, union = ''] = declared.exec(readFileSync(join(root, 'src', source), 'utf8')) ?? [];
  const [, section = ''] = guide.split(`\n## ${heading}\n`);
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([\w-]+)`/gm)];
  expect(rows.map(([, name]) => name)).toEqual(
    [...union.matchAll(/'(.*?)'/g)].map(([, name]) => name),
  );
});

test('every link of the documents leads to a file', () => {
  const documents = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.md') && !/node_modules|dist|site|\.tmp/.test(file),
  );
  expect(documents.length).toBeGreaterThan(8);
  for (const document of documents) {
    const text = readFileSync(join(root, document), 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\(([^)#:]+)\)/g)) {
      const path = join(root, dirname(document), target);
      expect(existsSync(path), `${document} links to ${target}`).toBe(true);
    }
  }
});

test('every npm script that the documents name exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const named = [...`${readme}${contributing}`.matchAll(/npm run (?:--silent )?([\w:-]+)/g)];
  expect(named.length).toBeGreaterThan(5);
  for (const [, name = ''] of named) expect(Object.keys(scripts)).toContain(name);
});

test.each([
  ['algorithms', algorithms],
  ['methods', methods],
])('every one of the listed %s is in its row of all parts', (what, entries) => {
  const row = parts.split('\n').find((line) => line.startsWith(`| ${what} |`)) ?? '';
  const bare = (name: string) => name.replaceAll('-', '').toLowerCase();
  // By its name here, or by that of its paper behind it: `abMcts` (AB-MCTS-A).
  const names = [...row.matchAll(/`([\w-]+)`(?: \(([\w-]+)\))?/g)].flatMap(
    ([, here = '', paper = '']) => [bare(here), bare(paper)],
  );
  for (const { name } of entries) expect(names).toContain(bare(name));
});
