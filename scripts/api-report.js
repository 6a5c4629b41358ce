// Writes what each export of the package declares to api/, without comments, sorted by name, and to api/reached.txt what
// these reach without exporting it; or compares it, and fails where it differs: `npm run api -- --update` takes a change over, which belongs into CHANGELOG.md.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'api');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.entries(exports).filter(([, { types }]) => types !== undefined);
const program = ts.createProgram(
  entries.map(([, { types }]) => join(root, types)),
  { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, types: ['node'] },
);
const checker = program.getTypeChecker();
const printer = ts.createPrinter({ removeComments: true });

function exportsOf(types) {
  const file = program.getSourceFile(join(root, types));
  return checker.getExportsOfModule(checker.getSymbolAtLocation(file));
}

function reportOf(symbols) {
  const texts = symbols.map((symbol) => [symbol.name, declarationOf(symbol)]);
  const sorted = texts.toSorted((one, other) => (one.join(' ') < other.join(' ') ? -1 : 1));
  return `${sorted.map(([, text]) => text).join('\n\n')}\n`;
}

/** What a symbol stands for, behind imports and other names. */
function meantBy(symbol) {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}

/** The declarations of the package that exported ones name, directly or through others, and that are not exported. */
function reachedFrom(exported) {
  const seen = new Set(exported.map(meantBy));
  const reached = [];
  const visit = (node) => {
    const symbol = ts.isIdentifier(node) && checker.getSymbolAtLocation(node);
    if (symbol) note(meantBy(symbol));
    ts.forEachChild(node, visit);
  };
  const note = (symbol) => {
    if (seen.has(symbol) || !symbol.declarations?.some(isOwn)) return;
    seen.add(symbol);
    reached.push(symbol);
    symbol.declarations.forEach(visit);
  };
  for (const symbol of [...seen]) symbol.declarations?.forEach(visit);
  return reached;
}

/** Whether it stands at the top of a file of the package: members and parameters are printed with what they belong to. */
function isOwn(declaration) {
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const file = declaration.getSourceFile().fileName;
  return ts.isSourceFile(statement.parent) && file.startsWith(join(root, 'dist/'));
}

/** As it stands in the built types. A variable stands in a list of them. */
function declarationOf(symbol) {
  const meant = meantBy(symbol);
  const texts = (meant.declarations ?? []).map((declaration) => {
    const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
    return printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
  });
  const renamed = meant.name === symbol.name ? [] : [`// as ${symbol.name}`];
  return [...renamed, ...new Set(texts)].join('\n');
}

const reports = new Map(
  entries.map(([path, { types }]) => [
    `${path === '.' ? 'espalier' : path.slice(2).replace('/', '-')}.txt`,
    reportOf(exportsOf(types)),
  ]),
);
const everything = entries.flatMap(([, { types }]) => exportsOf(types));
reports.set('reached.txt', reportOf(reachedFrom(everything)));
if (process.argv.includes('--update')) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of reports) writeFileSync(join(folder, name), text);
} else {
  const kept = new Map(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
  const names = new Set([...kept.keys(), ...reports.keys()]);
  const changed = [...names].filter((name) => kept.get(name) !== reports.get(name));
  for (const name of changed) {
    process.stderr.write(
      `api/${name} differs: ${firstChange(kept.get(name), reports.get(name))}\n`,
    );
  }
  if (changed.length > 0) {
    process.stderr.write(
      'The public API changed. Announce it in CHANGELOG.md and run `npm run api -- --update`.\n',
    );
    process.exitCode = 1;
  }
}

function firstChange(before = '', now = '') {
  const old = new Set(before.split('\n'));
  const fresh = new Set(now.split('\n'));
  const gone = [...old].find((line) => !fresh.has(line));
  const added = [...fresh].find((line) => !old.has(line));
  return [gone && `- ${gone.trim()}`, added && `+ ${added.trim()}`].filter(Boolean).join(' ');
}
