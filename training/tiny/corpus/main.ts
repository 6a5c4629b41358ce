// Writes the corpus of the model that comes with the package: lines to learn from, questions on puzzles that
// were held out, and a manifest. `make -C training tiny` runs it on the built package.
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seededRandom } from 'espalier';
import { blocksworldFamily, countdownFamily, gameOf24Family, type Side } from './families.ts';
import { type Families, goodShare, type Kind, line, mixture } from './lines.ts';
import { templateHashes } from './templates.ts';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '1000000' },
    questions: { type: 'string', default: '400' },
    seed: { type: 'string', default: 'espalier-tiny' },
    out: { type: 'string', default: fileURLToPath(new URL('../build/corpus', import.meta.url)) },
  },
});
const random = seededRandom(values.seed);
const kinds = Object.entries(mixture) as readonly (readonly [Kind, number])[];
const total = kinds.reduce((sum, [, weight]) => sum + weight, 0);

function familiesOf(side: Side): Families {
  const source = random.split('families', side);
  return {
    game24: gameOf24Family(source.split('game24'), side),
    countdown: countdownFamily(source.split('countdown'), side),
    blocksworld: blocksworldFamily(source.split('blocksworld'), side),
  };
}

function writeLines(path: string, lines: Iterable<object>): number {
  const file = openSync(path, 'w');
  let count = 0;
  let buffer = '';
  for (const entry of lines) {
    buffer += `${JSON.stringify(entry)}\n`;
    if (++count % 4096 === 0) {
      writeSync(file, buffer);
      buffer = '';
    }
  }
  writeSync(file, buffer);
  closeSync(file);
  return count;
}

/** The kind to which one of a thousand numbers belongs. */
function kindAt(number: number): Kind {
  let rest = number;
  for (const [kind, weight] of kinds) {
    if (rest < weight) return kind;
    rest -= weight;
  }
  throw new Error(`Expected a number below ${total}, got ${number}.`);
}

function* trainingLines(): Generator<object> {
  const source = random.split('train');
  const families = familiesOf('train');
  for (let written = 0; written < Number(values.lines); written++) {
    const { task, messages } = line(source, families, kindAt(source.integer(total)));
    yield { task, messages };
  }
}

/** The prompt alone, and what an answer is held against. */
function* questions(): Generator<object> {
  const source = random.split('questions');
  const families = familiesOf('heldOut');
  for (const [kind] of kinds) {
    for (let written = 0; written < Number(values.questions); written++) {
      const question = line(source, families, kind);
      yield { id: `${kind}/${written}`, ...question, messages: question.messages.slice(0, -1) };
    }
  }
}

mkdirSync(values.out, { recursive: true });
const templates = await templateHashes();
const lines = writeLines(join(values.out, 'train.jsonl'), trainingLines());
const asked = writeLines(join(values.out, 'eval.jsonl'), questions());
const manifest = { seed: values.seed, lines, questions: asked, goodShare, mixture, templates };
writeFileSync(join(values.out, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
process.stdout.write(`${lines} lines and ${asked} questions in ${values.out}\n`);
