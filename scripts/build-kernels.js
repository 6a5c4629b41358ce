// Compiles the kernels of the tiny backend (AssemblyScript) and writes them as a TypeScript module, which is
// committed: nobody who installs the package needs the compiler. `npm run kernels` runs it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../src/backends/tiny/kernels/', import.meta.url));
const lineLength = 92;

/** The text of the module as the sources make it now. */
export async function compileKernels() {
  const { main } = await import('assemblyscript/asc');
  let wasm;
  const { error, stderr } = await main(
    [
      'index.ts',
      ...['--outFile', 'kernels.wasm', '-O3', '--noAssert', '--runtime', 'stub'],
      ...['--importMemory', '--noExportMemory', '--enable', 'simd'],
    ],
    {
      // The compiler knows only its own extension; ours keeps the sources apart from TypeScript.
      readFile: (name) => readSource(name.replace(/\.ts$/, '.as')),
      writeFile: (_name, contents) => {
        wasm = contents;
      },
      listFiles: () => [],
    },
  );
  if (error) throw new Error(`The kernels do not compile.\n${stderr.toString()}`, { cause: error });
  return moduleOf(Buffer.from(wasm).toString('base64'));
}

function readSource(name) {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    // The compiler tries several places and takes `null` as an answer.
    return null;
  }
}

function moduleOf(base64) {
  const lines = base64.match(new RegExp(`.{1,${lineLength}}`, 'g')) ?? [];
  return [
    '// Made by `npm run kernels` from the .as files of this folder. Do not edit.',
    '',
    '/** The compiled kernels, base64. */',
    'export const kernelBytes: string = [',
    ...lines.map((line) => `  '${line}',`),
    "].join('');",
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(folder, 'kernels.generated.ts'), await compileKernels());
}
