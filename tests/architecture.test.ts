import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '../src');

/** The floor of each room. Imports point to lower floors; `tree` and `calls` stand on `base`. */
const floors: Readonly<Record<string, number>> = {
  contracts: 0,
  base: 1,
  tree: 2,
  calls: 2,
  prompting: 3,
  search: 4,
  policies: 4,
  values: 4,
  memory: 4,
  environments: 4,
  backends: 4,
  data: 5,
  methods: 6,
  runs: 7,
  testing: 8,
  bench: 9,
  agents: 9,
  cli: 10,
};

/** Which rooms within a room a room within it may import from, besides itself. */
const inner: Readonly<Record<string, Readonly<Record<string, '*' | readonly string[]>>>> = {
  backends: {
    '.': '*',
    transport: [],
    llama: ['in-process', 'transport'],
    'in-process': ['transport'],
    doctor: ['openai-compatible'],
    'ai-sdk': ['transport'],
    anthropic: ['transport'],
    decisions: ['transport'],
    embeddings: ['transport'],
    openai: ['transport'],
    'openai-compatible': ['transport'],
    replay: [],
    rewards: ['transport'],
    tiny: ['in-process'],
  },
  data: {
    '.': '*',
    audit: ['.', 'formats'],
    formats: ['.'],
    labels: ['.'],
    pairs: ['.'],
    readers: ['.', 'formats'],
    rl: ['.'],
    sft: ['.'],
    writers: ['.', 'formats'],
  },
  environments: { '.': '*', puzzles: ['text'], text: [], tools: ['worlds'], worlds: [] },
  policies: { '.': '*', 'from-model': ['.'] },
  values: {
    '.': '*',
    agreement: ['.'],
    calibrate: ['.'],
    combine: ['.'],
    critic: ['.'],
    judge: ['.'],
    reward: ['.'],
    rollout: ['.'],
  },
};

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && file !== 'index.ts',
);

test('every folder of src is a room with a floor', () => {
  const folders = new Set(files.map((file) => file.split('/')[0]));
  expect([...folders].sort()).toEqual(Object.keys(floors).sort());
});

test.each(Object.keys(floors))('%s imports only from lower floors', (room) => {
  const wrong = importsWithin(room).filter(({ target }) => {
    const [other = ''] = target.split('/');
    return other !== room && !(floorOf(other) < floorOf(room));
  });
  expect(wrong).toEqual([]);
});

test.each(Object.keys(inner))('%s keeps its own rooms apart', (room) => {
  const rooms = inner[room] ?? {};
  const found = importsWithin(room).filter(({ target }) => target.startsWith(`${room}/`));
  const wrong = found.filter(({ file, target }) => {
    const [from, to] = [innerRoom(file), innerRoom(target)];
    const mayUse = rooms[from];
    return from !== to && mayUse !== '*' && mayUse?.includes(to) !== true;
  });
  expect(wrong).toEqual([]);
  const folders = files.filter((file) => file.startsWith(`${room}/`)).map(innerRoom);
  expect([...new Set(folders)].sort()).toEqual(Object.keys(rooms).sort());
});

test('no two files import each other, directly or through others', () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, above: readonly string[]): void => {
    if (above.includes(file)) circles.push([...above.slice(above.indexOf(file)), file].join(' → '));
    if (done.has(file)) return;
    done.add(file);
    for (const target of importsOf(file)) visit(target, [...above, file]);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test('a scope is opened where a module is loaded, and not by what runs: each slows down the process for good', () => {
  const opened = files
    .filter((file) => !file.startsWith('base/platform/'))
    .flatMap((file) => readFileSync(join(source, file), 'utf8').split('\n'))
    .filter((line) => /openScope[<(]/.test(line));
  expect(opened.length).toBeGreaterThan(0);
  expect(opened.filter((line) => !/^const \w+ = openScope</.test(line))).toEqual([]);
});

/** The core door lists what stands below it, for the command line as for everyone. */
function floorOf(room: string): number {
  if (room === 'index.ts') return floorOf('testing');
  return floors[room] ?? Number.NaN;
}

/** The folder of a file within its room; `.` for the room itself. */
function innerRoom(file: string): string {
  const [, folder = '.', rest] = file.split('/');
  return rest === undefined ? '.' : folder;
}

function importsWithin(room: string): readonly { file: string; target: string }[] {
  return files
    .filter((file) => file.startsWith(`${room}/`))
    .flatMap((file) => importsOf(file).map((target) => ({ file, target })));
}

/** The files of src that a file imports, types included. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(source, file), 'utf8');
  return [...text.matchAll(/from '(\.[^']+)'|import\('(\.[^']+)'\)/g)].map((match) =>
    relative(source, join(source, dirname(file), match[1] ?? match[2] ?? '')),
  );
}

test('an algorithm needs only what the package exports, but for checks of its options', () => {
  const exported = new Set(
    [...readFileSync(join(source, 'index.ts'), 'utf8').matchAll(/(\w+)(?=,|\s*\}| \})/g)].map(
      ([name]) => name,
    ),
  );
  for (const file of ['ab-mcts', 'beam', 'depth-first', 'lats']) {
    const text = readFileSync(join(source, `search/algorithms/${file}.ts`), 'utf8');
    const imports = [...text.matchAll(/^import (?:type )?\{([^}]*)\} from '([^']+)';$/gm)];
    expect(imports.length).toBeGreaterThan(2);
    for (const [, names = '', from = ''] of imports) {
      if (from.includes('base/expect')) continue;
      for (const name of names.split(',').map((part) => part.replace('type ', '').trim())) {
        if (name !== '') expect(exported, `${file}.ts: ${name}`).toContain(name);
      }
    }
  }
});
