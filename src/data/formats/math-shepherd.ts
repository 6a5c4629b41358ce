import { z } from 'zod';
import { contentAddress } from '../../base/canonical-json.ts';
import { type Place, readDocument, readLines, unreadable } from '../read-document.ts';
import type { LabelledStep, StepwiseRow } from '../rows.ts';
import type { FileRow } from './columns.ts';
import { datasetFormat } from './dataset-format.ts';
import type { DatasetFormat, FormatOptions } from './format.ts';
import { publishedProvenance, questionOf } from './published.ts';
import type { ColumnReader, ReadParts } from './reading.ts';

/** What ends a step. */
const marker = 'ки';

/**
 * The rows of Math-Shepherd: the question and the numbered steps as one text in which `ки` ends a step, and the same
 * text with `+` or `-` in place of each. It has no provenance columns.
 *
 * @see Wang et al., "Math-Shepherd: Verify and Reinforce LLMs Step-by-step without Human Annotations", 2024.
 */
export function mathShepherdFiles(options: FormatOptions = {}): DatasetFormat<'stepwise'> {
  return datasetFormat(
    {
      name: 'math-shepherd',
      title: 'Math-Shepherd: step labels as + and - in the text',
      paper: 'Wang et al., 2023, arXiv 2312.08935',
    },
    {
      stepwise: {
        columns: { input: 'string', label: 'string', task: 'string' },
        write: (row) =>
          holdsMarker(row)
            ? `A step or the question holds \`${marker}\`, which ends a step in this form.`
            : write(row, options.render),
        reads: { needs: ['input', 'label', 'task'], parts: readParts },
      },
    },
    { ...options, provenance: false },
  );
}

function readParts(reader: ColumnReader): ReadParts {
  const input = reader.content('input');
  const label = reader.content('label');
  if (typeof input !== 'string' || typeof label !== 'string') return {};
  const [first = '', ...others] = input.split(marker).slice(0, -1);
  const start = Math.max(0, first.lastIndexOf('Step 1:'));
  const marks = label.match(/[+-](?=\n|$)/g) ?? [];
  return {
    prompt: first.slice(0, start).trim(),
    steps: [first.slice(start), ...others].map((piece) => piece.trim()),
    labels: marks.map((mark) => mark === '+'),
  };
}

function holdsMarker({ prompt, steps }: StepwiseRow): boolean {
  return [...prompt.map(({ content }) => content), ...steps.map(({ text }) => text)].some((text) =>
    text.includes(marker),
  );
}

function write(row: StepwiseRow, render: FormatOptions['render']): FileRow {
  const { steps, provenance, extra = {} } = row;
  const gaps = readGaps(extra['gaps'], steps.length) ?? usualGaps(steps);
  const question = questionOf(row, render);
  const assemble = (mark: (step: LabelledStep) => string): string => {
    const written = steps.map((step, place) => {
      const { before = '', after = '' } = gaps[place] ?? {};
      return `${before}${step.text}${after}${mark(step)}`;
    });
    return `${question}${written.join('')}${gaps[steps.length]?.before ?? ''}`;
  };
  const input = assemble(() => marker);
  const label = assemble((step) => (step.label ? '+' : '-'));
  const { task = provenance.method === '' ? 'espalier' : provenance.method } = extra;
  return { input, label, task: String(task) };
}

/** The text around a step, beside the mark. */
interface Gap {
  readonly before: string;
  readonly after: string;
}

function usualGaps(steps: readonly LabelledStep[]): readonly Gap[] {
  return steps.map(({ text }, place) => {
    const name = `Step ${place + 1}: `;
    // A step may bring its number along.
    const number = text.startsWith(name) ? '' : name;
    return { before: `${place === 0 ? ' ' : '\n'}${number}`, after: ' ' };
  });
}

const rowSchema = z.strictObject({ input: z.string(), label: z.string(), task: z.string() });

/**
 * Reads rows of Math-Shepherd. Written as `math-shepherd`, they reproduce the input exactly.
 *
 * The question ends at the last `Step 1:` before the first mark. Step numbers are not part of the text. A solution with
 * an answer is right if its last step is labelled right.
 *
 * @param text - JSON lines.
 * @throws EspalierError `usage`, naming the line and the field, for anything else.
 */
export function readMathShepherd(text: string): readonly StepwiseRow[] {
  return readLines('Math-Shepherd file', text, (line, place) =>
    toRow(readDocument(line, rowSchema, place), place),
  );
}

function toRow({ input, label, task }: z.infer<typeof rowSchema>, place: Place): StepwiseRow {
  const pieces = input.split(marker);
  const rest = pieces.pop() ?? '';
  const marks = readMarks([...pieces, rest], { label, place });
  const start = pieces[0]?.lastIndexOf('Step 1:') ?? -1;
  const before = pieces[0]?.slice(0, Math.max(0, start)) ?? '';
  const question = before.trimEnd();
  if (question === '') {
    throw unreadable(
      place,
      ['input'],
      'expected a question, `Step 1:` and a mark behind each step',
    );
  }
  const read = pieces.map((piece, index) =>
    readStep(index === 0 ? piece.slice(question.length) : piece, index + 1),
  );
  const steps = read.map(({ text }, index): LabelledStep => {
    const isRight = marks[index] === '+';
    return { text, label: isRight, value: isRight ? 1 : 0, rating: isRight ? 1 : -1 };
  });
  const gaps: readonly Gap[] = [
    ...read.map(({ before: ahead, after }) => ({ before: ahead, after })),
    ...(rest === '' ? [] : [{ before: rest, after: '' }]),
  ];
  const isUsual = JSON.stringify(gaps) === JSON.stringify(usualGaps(steps));
  const last = steps.at(-1);
  return {
    kind: 'stepwise',
    prompt: [{ role: 'user', content: question }],
    steps,
    alternatives: steps.map((step) => [step]),
    taken: steps.map(() => 0),
    delimiter: '\n',
    right: last !== undefined && /the answer is/i.test(last.text) ? last.label : undefined,
    provenance: publishedProvenance('math-shepherd', contentAddress(question)),
    extra: { task, ...(!isUsual && { gaps: gaps.map((gap) => ({ ...gap })) }) },
  };
}

/** The sign in place of each mark. All other text must be the same. */
function readMarks(
  pieces: readonly string[],
  { label, place }: { readonly label: string; readonly place: Place },
): readonly string[] {
  const marks: string[] = [];
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    const end = at + piece.length;
    const mark = label.slice(end, end + 1);
    const isLast = index === pieces.length - 1;
    const isMarked = isLast ? end === label.length : mark === '+' || mark === '-';
    if (label.slice(at, end) !== piece || !isMarked) {
      const what = 'expected the input with `+` or `-` in place of each mark';
      throw unreadable(place, ['label'], what);
    }
    marks.push(mark);
    at = end + 1;
  }
  return marks;
}

function readStep(piece: string, number: number): Gap & { readonly text: string } {
  const name = new RegExp(`^\\s*(?:Step ${number}: )?`);
  const before = name.exec(piece)?.[0] ?? '';
  const text = piece.slice(before.length).trimEnd();
  return { before, text, after: piece.slice(before.length + text.length) };
}

const gapsSchema = z.array(z.object({ before: z.string(), after: z.string() }));

/** Gaps that were read with the row, unless it has other steps by now. */
function readGaps(value: unknown, steps: number): readonly Gap[] | undefined {
  const gaps = gapsSchema.safeParse(value).data;
  return gaps !== undefined && gaps.length >= steps && gaps.length <= steps + 1 ? gaps : undefined;
}
