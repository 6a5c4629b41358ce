import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { EspalierError, mcts, type Random } from '../../src/index.ts';
import { generate, openRun, readRecords, readRun } from '../../src/runs/index.ts';
import { scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';

/** The files of a run that are no journals. */
export const runFiles = [
  'asked.jsonl',
  'problems.jsonl',
  'report.json',
  'run.json',
  'trees.jsonl',
] as const;

/** What became of a run folder in which one bit was flipped. */
export interface Flips {
  /** It reads as something else, and nobody says so. */
  silent: number;
  /** It is refused, with a sentence. */
  refused: number;
  /** It reads as before. */
  same: number;
}

/** Writes a run over some problems, by public means alone. */
export async function writeRun(path: string, count = 3): Promise<void> {
  using run = openRun(path);
  run.writeRun({ command: 'generate', algorithm: 'mcts', model: 'openai:some-model', seed: 7 });
  const problems = Array.from({ length: count }, (_, index) => ({
    id: `problem ${index}`,
    question: `What is ${index} + 1?`,
    answer: String(index + 1),
  }));
  run.writeProblems(problems);
  const { total, done, spend } = await generate({
    run,
    problems,
    plan: ({ id }) => ({
      ...throughModel(syntheticTree({ branching: 3 }), {
        model: scriptedModel({ answer: hashedAnswer }),
      }),
      algorithm: mcts(),
      budget: { simulations: 6 },
      seed: id,
    }),
  });
  run.writeReport({ total, done, spend: { ...spend } });
}

/** All that can be read of a run folder. */
export function contentOf(path: string): unknown {
  const saved = readRun(path);
  const { run, outcomes, asked, report, trees } = saved;
  const records = [
    ...readRecords(saved, { describe: () => ({ notation: { format: String, prompt: () => [] } }) }),
  ];
  return structuredClone({
    run,
    outcomes,
    asked,
    report,
    entries: trees.map((tree) => tree.read()),
    ids: records.flat().map(({ id, tree }) => [id, tree.size]),
  });
}

/** Flips single bits of a file of a run, one at a time, and reads the folder. */
export function flipsOf(
  path: string,
  {
    name,
    count,
    random,
  }: { readonly name: string; readonly count: number; readonly random: Random },
): Flips {
  const file = join(path, name);
  const bytes = readFileSync(file);
  const whole = contentOf(path);
  const flips: Flips = { silent: 0, refused: 0, same: 0 };
  // Every bit of the last bytes: there stands what tells whether a line is whole.
  const ending = Array.from({ length: Math.min(bytes.length, 24) * 8 }, (_, bit) => bit);
  const drawn = Array.from({ length: count }, () => random.integer(bytes.length * 8));
  for (const bit of [...ending.map((place) => bytes.length * 8 - 1 - place), ...drawn]) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(file, flipped);
    try {
      if (isDeepStrictEqual(contentOf(path), whole)) flips.same += 1;
      else flips.silent += 1;
    } catch (error) {
      if (!EspalierError.isInstance(error) || !error.message.includes(name)) throw error;
      flips.refused += 1;
    }
  }
  writeFileSync(file, bytes);
  return flips;
}
