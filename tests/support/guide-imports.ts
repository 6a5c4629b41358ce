// What a block of a guide leaves out: the imports of names that an earlier block, our preparation, or the package has.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A name, and whether it is a type alone. */
type Names = ReadonlyMap<string, boolean>;

/** What a module exports under names. */
function exportedBy(source: string): Names {
  const lists = [...source.matchAll(/^export (type )?\{(.*?)\}/gms)].flatMap(([, all, list = '']) =>
    list
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '')
      .map((each): [string, boolean] => [
        each.replace(/^type /, '').replace(/^.* as /, ''),
        all !== undefined || each.startsWith('type '),
      ]),
  );
  return new Map([...lists, ...declaredBy(source, 'export ')]);
}

/** What a module declares at its top, and others may import: not what is disposed of at its end. */
function declaredBy(source: string, before = '(?:export )?'): Names {
  const kinds = 'const|let|function|async function|class|interface|type';
  const declarations = source.matchAll(
    new RegExp(`^${before}(${kinds}) (?:\\{([^}]*)\\}|(\\w+))`, 'gm'),
  );
  return new Map(
    [...declarations].flatMap(([, kind = '', pattern, name = '']) =>
      (pattern?.split(',') ?? [name])
        .map((each) => each.replace(/^.*:|=.*$/g, '').trim())
        .filter((each) => each !== '')
        .map((each): [string, boolean] => [each, kind === 'interface' || kind === 'type']),
    ),
  );
}

/** The names of each export of the package. */
const ofPackage = [...packageExports()];

function* packageExports(): Iterable<readonly [from: string, names: Names]> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly 'espalier-source'?: string }>>;
  };
  for (const [path, { 'espalier-source': source }] of Object.entries(exports)) {
    if (source === undefined) continue;
    yield [path.replace('.', 'espalier'), exportedBy(readFileSync(join(root, source), 'utf8'))];
  }
}

/** A block of TypeScript, the module it is written to, and whether others may import it. */
export interface GuideModule {
  readonly guide: string;
  readonly file: string;
  readonly text: string;
  readonly mayBeImported: boolean;
}

/** The files of `tests/guides` that prepare a guide: its own before the one for all. */
export function preparations(guide: string): readonly string[] {
  return [guide, 'all'].filter((name) => existsSync(join(root, 'tests/guides', `${name}.ts`)));
}

/** The text of a block with imports of what it leaves out, and exports of what it declares. */
export function completed(
  block: GuideModule,
  missing: ReadonlySet<string>,
  modules: readonly GuideModule[],
): string {
  const earlier = modules
    .slice(0, modules.indexOf(block))
    .filter(({ guide, mayBeImported }) => guide === block.guide && mayBeImported)
    .toReversed()
    .map(({ file, text }): [string, Names] => [`./${file}.js`, declaredBy(text)]);
  const prepared = preparations(block.guide).map((name): [string, Names] => {
    const source = readFileSync(join(root, 'tests/guides', `${name}.ts`), 'utf8');
    return [`../guides/${name}.js`, exportedBy(source)];
  });
  const sources = [...prepared.slice(0, -1), ...earlier, ...prepared.slice(-1), ...ofPackage];
  const imports = [...missing].flatMap((name) => {
    const [from, names] = sources.find(([, has]) => has.has(name)) ?? [];
    return names === undefined
      ? []
      : [`import { ${names.get(name) === true ? 'type ' : ''}${name} } from '${from}';`];
  });
  const already = exportedBy(block.text);
  const exports = [...declaredBy(block.text)].flatMap(([name, isType]) =>
    already.has(name) ? [] : [`${isType ? 'type ' : ''}${name}`],
  );
  // On the first line, so that messages of the compiler name lines of the block.
  return `${imports.join(' ')} ${block.text}\nexport { ${exports.join(', ')} };\n`;
}
