// Measures the shape of src: how much there is, how large its parts are, what leaves it, which files import each other
// in a circle, what is written twice, and how many files know a part of each sort. `npm run house` prints it, and with
// `-- --list` the places too.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, ReflectionKind } from 'typedoc';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');
/** How many lines in a row must be alike to count as written twice. */
const window = 6;

/** One part of each sort: the file that holds it. Whoever names one of its exports would change if it went away. */
const samples = {
  algorithm: 'search/algorithms/best-of-n.ts',
  method: 'methods/r-mcts.ts',
  format: 'data/formats/verl.ts',
  'pair rule': 'data/pairs/r-star-math.ts',
  'kind of call': 'calls/operations/embed.ts',
};
/** A preset is an entry of a table, known by its name. */
const preset = /'lm-studio'/;

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort()
  .map((path) => {
    const text = readFileSync(join(source, path), 'utf8');
    return {
      path,
      text,
      lines: text.split('\n').length - 1,
      tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true),
    };
  });

/** The lines of each function with a body. */
function functionsOf(tree) {
  const lengths = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      const first = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line;
      const last = tree.getLineAndCharacterOfPosition(node.end).line;
      lengths.push(last - first + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return lengths;
}

function importsOf({ path, tree }) {
  return tree.statements
    .filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
    .flatMap(({ moduleSpecifier }) => {
      const name = moduleSpecifier?.text;
      return name?.startsWith('.')
        ? [relative(source, join(source, dirname(path), name)).replaceAll('\\', '/')]
        : [];
    });
}

/** Groups of files that reach each other through imports, types included (Tarjan). */
function circlesOf(imports) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const circles = [];
  const visit = (file) => {
    index.set(file, index.size);
    low.set(file, index.get(file));
    stack.push(file);
    for (const target of imports.get(file) ?? []) {
      if (!index.has(target)) visit(target);
      if (stack.includes(target)) low.set(file, Math.min(low.get(file), low.get(target)));
    }
    if (low.get(file) !== index.get(file)) return;
    const members = stack.splice(stack.indexOf(file));
    if (members.length > 1) circles.push(members);
  };
  for (const file of imports.keys()) if (!index.has(file)) visit(file);
  return circles;
}

/** Code without imports, exports from elsewhere, comments and blank lines: what somebody would have to write again. */
function codeLinesOf({ tree, text }) {
  const printer = ts.createPrinter({ removeComments: true });
  const code = tree.statements
    .filter(
      (statement) => !(ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)),
    )
    .map((statement) => printer.printNode(ts.EmitHint.Unspecified, statement, tree))
    .join('\n');
  return text === ''
    ? []
    : code
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
}

/** Stretches of at least six equal lines of code, each counted once for each place after its first. */
function duplicatesOf(all) {
  const seen = new Map();
  const places = [];
  for (const file of all) {
    const lines = codeLinesOf(file);
    for (let at = 0; at + window <= lines.length; at += 1) {
      const text = lines.slice(at, at + window).join('\n');
      // Six lines of closing brackets or of bare names are alike everywhere.
      if (text.replaceAll(/\W/g, '').length < 60) continue;
      const first = seen.get(text);
      if (first === undefined) seen.set(text, `${file.path}:${at}`);
      else {
        places.push(`${file.path} like ${first}`);
        at += window - 1;
      }
    }
  }
  return places;
}

async function reflections() {
  const application = await Application.bootstrapWithPlugins({ logLevel: 'Error' });
  const project = await application.convert();
  const counted =
    ReflectionKind.All &
    ~(ReflectionKind.Module | ReflectionKind.Project | ReflectionKind.Reference);
  const members = project
    .getReflectionsByKind(counted)
    .filter(
      (one) =>
        !one.kindOf(
          ReflectionKind.SomeSignature |
            ReflectionKind.TypeParameter |
            ReflectionKind.Parameter |
            ReflectionKind.TypeLiteral,
        ),
    );
  const exported = new Set(
    members.filter(({ parent }) => parent?.kindOf(ReflectionKind.Module)).map(({ name }) => name),
  );
  return { members: members.length, exported: exported.size };
}

function touchedBy(path) {
  const file = files.find((one) => one.path === path);
  if (file === undefined) return undefined;
  const names = file.tree.statements
    .filter((one) => one.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
    .flatMap(
      (one) => one.declarationList?.declarations.map(({ name }) => name.text) ?? [one.name?.text],
    )
    .filter((name) => name !== undefined);
  const named = new RegExp(`\\b(${names.join('|')})\\b`);
  return files.filter(
    (one) => one.path === path || (importsOf(one).includes(path) && named.test(one.text)),
  ).length;
}

const percentile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
const spread = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return `p50 ${percentile(sorted, 0.5)}, p90 ${percentile(sorted, 0.9)}, max ${sorted.at(-1)}`;
};

const lines = files.reduce((sum, file) => sum + file.lines, 0);
const circles = circlesOf(new Map(files.map((file) => [file.path, importsOf(file)])));
const duplicates = duplicatesOf(files);
const { members, exported } = await reflections();
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const doors = Object.keys(manifest.exports).length - 1;
const touched = [
  ...Object.entries(samples).map(([sort, path]) => [sort, touchedBy(path)]),
  ['preset', files.filter(({ text }) => preset.test(text)).length],
];

const rows = [
  ['lines', lines],
  ['files', files.length],
  ['lines of a file', spread(files.map((file) => file.lines))],
  ['lines of a function', spread(files.flatMap(({ tree }) => functionsOf(tree)))],
  ['doors', doors],
  ['exported names', exported],
  ['reflections, members included', members],
  ['circles of imports', circles.length],
  ['places written twice', duplicates.length],
  ...touched.map(([sort, count]) => [`files that know one ${sort}`, count ?? 'none yet']),
];
const listed = [
  ...circles.map((circle) => `circle: ${circle.join(', ')}`),
  ...duplicates.map((place) => `twice: ${place}`),
  ...files.filter((file) => file.lines > 400).map((file) => `long: ${file.path} ${file.lines}`),
];
const shown = rows.map(([name, value]) => `${name.padEnd(34)}${value}`);
process.stdout.write(
  `${[...shown, ...(process.argv.includes('--list') ? listed : [])].join('\n')}\n`,
);
