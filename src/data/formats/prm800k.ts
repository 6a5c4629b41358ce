import { z } from 'zod';
import { contentAddress } from '../../base/canonical-json.ts';
import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import { readDocument, readLines } from '../read-document.ts';
import type { LabelledStep, StepwiseRow } from '../rows.ts';
import type { Columns, ColumnType, FileRow } from './columns.ts';
import { datasetFormat } from './dataset-format.ts';
import type { DatasetFormat, FormatOptions } from './format.ts';
import { publishedProvenance, questionOf } from './published.ts';
import type { ColumnReader, ReadParts } from './reading.ts';

const maybeText: ColumnType = { optional: 'string' };

const columns: Columns = {
  labeler: 'string',
  timestamp: maybeText,
  generation: { optional: 'int' },
  is_quality_control_question: 'boolean',
  is_initial_screening_question: 'boolean',
  question: {
    struct: {
      problem: 'string',
      ground_truth_solution: maybeText,
      ground_truth_answer: maybeText,
      pre_generated_steps: { optional: { list: 'string' } },
      pre_generated_answer: maybeText,
      pre_generated_verifier_score: { optional: 'float' },
    },
  },
  label: {
    struct: {
      steps: {
        list: {
          struct: {
            completions: {
              optional: {
                list: {
                  struct: {
                    text: 'string',
                    rating: { optional: 'int' },
                    flagged: { optional: 'boolean' },
                  },
                },
              },
            },
            human_completion: {
              optional: {
                struct: {
                  text: 'string',
                  rating: { optional: 'int' },
                  source: maybeText,
                  flagged: { optional: 'boolean' },
                },
              },
            },
            chosen_completion: { optional: 'int' },
          },
        },
      },
      total_time: { optional: 'int' },
      finish_reason: 'string',
    },
  },
};

/**
 * The rows of PRM800K: for each step of a solution all proposed completions, each rated −1, 0 or 1, and which one was
 * taken. A row read from PRM800K is written unchanged, without missing keys. It has no provenance columns.
 *
 * @see Lightman et al., "Let's Verify Step by Step", 2023.
 */
export function prm800kFiles(options: FormatOptions = {}): DatasetFormat<'stepwise'> {
  return datasetFormat(
    {
      name: 'prm800k',
      title: 'PRM800K: for each step all that were proposed, with ratings',
      paper: 'Lightman et al., 2023, arXiv 2305.20050',
    },
    {
      stepwise: {
        columns,
        write(row) {
          const source = row.extra?.['prm800k'];
          const isSource = sourceSchema.safeParse(source).success;
          const written = isSource ? fill(source as unknown as Source, row) : undefined;
          return written ?? newRow(row, options.render);
        },
        reads: {
          needs: ['question', 'label'],
          fits: ({ question, label }) => isPlainObject(question) && isPlainObject(label),
          parts: readParts,
        },
      },
    },
    { ...options, provenance: false },
  );
}

function readParts(reader: ColumnReader): ReadParts {
  const { question, label } = reader.columns;
  const steps = isPlainObject(label) ? label['steps'] : undefined;
  const rated = (Array.isArray(steps) ? (steps as unknown[]) : [])
    .flatMap((step): unknown[] =>
      isPlainObject(step) && Array.isArray(step['completions']) ? step['completions'] : [],
    )
    .filter(isPlainObject);
  return {
    rated: true,
    prompt: reader.contentOf('prompt', isPlainObject(question) ? question['problem'] : question),
    steps: rated.map(({ text }) => text),
    labels: rated.map(({ rating: own }) => own ?? 0),
    // Which completion was taken is no part of the steps.
    context: label,
  };
}

function newRow(row: StepwiseRow, render: FormatOptions['render']): FileRow {
  const { method } = row.provenance;
  return {
    labeler: method === '' ? 'espalier' : method,
    timestamp: null,
    generation: null,
    is_quality_control_question: false,
    is_initial_screening_question: false,
    question: {
      problem: questionOf(row, render),
      ground_truth_solution: null,
      ground_truth_answer: null,
      pre_generated_steps: null,
      pre_generated_answer: null,
      pre_generated_verifier_score: null,
    },
    label: {
      steps: row.alternatives.map((proposed, place) => ({
        completions: proposed.map(({ text, rating }) => ({ text, rating, flagged: false })),
        human_completion: null,
        chosen_completion: row.taken[place] ?? null,
      })),
      total_time: null,
      finish_reason: finishReason(row),
    },
  };
}

function finishReason({ right }: StepwiseRow): string {
  if (right === undefined) return 'give_up';
  return right ? 'solution' : 'found_error';
}

const rating = z.union([z.literal(-1), z.literal(0), z.literal(1)]).nullable();
const completionSchema = z.looseObject({ text: z.string(), rating });
const stepSchema = z.looseObject({
  completions: z.array(completionSchema).nullable(),
  human_completion: z.looseObject({ text: z.string() }).nullish(),
  chosen_completion: z.int().min(0).nullish(),
});

/** A row of the file. Loose: unknown fields are kept. */
const sourceSchema = z.looseObject({
  question: z.looseObject({ problem: z.string() }),
  label: z.looseObject({ steps: z.array(stepSchema), finish_reason: z.string().nullish() }),
});

type Source = z.infer<typeof sourceSchema>;
type SourceStep = z.infer<typeof stepSchema>;
type SourceCompletion = z.infer<typeof completionSchema>;

/**
 * Reads rows of PRM800K. Written as `prm800k`, they reproduce the input exactly.
 *
 * - The step taken is the chosen completion, else the human-written one, else the first one, where labelling ended. A
 *   step without completions is left out.
 * - A human-written step counts as rated 1, any other step without a rating as 0.
 * - The label is whether the rating is 1; the value is (rating + 1) / 2.
 * - A finished solution is right if its last step is rated 1.
 *
 * The known answer stays in `extra`, never in a prompt.
 *
 * @param text - JSON lines.
 * @throws EspalierError `usage`, naming the line and the field, for anything else.
 */
export function readPrm800k(text: string): readonly StepwiseRow[] {
  return readLines('PRM800K file', text, (line, place) => {
    // Checked, and then parsed again: the schema returns the keys in another order.
    readDocument(line, sourceSchema, place);
    return toRow(JSON.parse(line) as Source);
  });
}

function toRow(source: Source): StepwiseRow {
  const { problem } = source.question;
  const read = source.label.steps.flatMap(readStep);
  const steps = read.map(({ step }) => step);
  const last = steps.at(-1);
  return {
    kind: 'stepwise',
    prompt: [{ role: 'user', content: problem }],
    steps,
    alternatives: read.map(({ proposed }) => proposed),
    taken: read.map(({ taken }) => taken),
    delimiter: '\n',
    right:
      source.label.finish_reason === 'solution' && last !== undefined
        ? last.rating === 1
        : undefined,
    provenance: publishedProvenance('prm800k', contentAddress(problem)),
    extra: { prm800k: emptied(source) },
  };
}

function readStep({ completions, human_completion: human, chosen_completion: chosen }: SourceStep) {
  const proposed = (completions ?? []).map(({ text, rating: own }) => labelled(text, own ?? 0));
  if (human !== null && human !== undefined) proposed.push(labelled(human.text, 1));
  const isHuman = (chosen ?? undefined) === undefined && human !== null && human !== undefined;
  const taken = isHuman ? proposed.length - 1 : (chosen ?? 0);
  const step = proposed[taken];
  return step === undefined ? [] : [{ step, proposed, taken }];
}

function labelled(text: string, own: -1 | 0 | 1): LabelledStep {
  return { text, value: (own + 1) / 2, label: own === 1, rating: own };
}

/** The fields that a row of ours cannot hold, in the order of the file. The texts it holds are in the steps. */
function emptied(source: Source): JsonValue {
  return JSON.parse(
    JSON.stringify({
      ...source,
      question: { ...source.question, problem: '' },
      label: { ...source.label, steps: source.label.steps.map(emptiedStep) },
    }),
  ) as JsonValue;
}

function emptiedStep(step: SourceStep): SourceStep {
  if (readStep(step).length === 0) return step;
  return mapTexts(step, (completion) => ({ ...completion, text: '' }));
}

/** The row of the file again; `undefined` where the row has other steps by now. */
function fill(source: Source, row: StepwiseRow): FileRow | undefined {
  const sizes = source.label.steps.flatMap(readStep).map(({ proposed }) => proposed.length);
  const own = row.alternatives.map((proposed) => proposed.length);
  if (sizes.join() !== own.join()) return undefined;
  let at = 0;
  const steps = source.label.steps.map((step) => {
    if (readStep(step).length === 0) return step;
    const proposed = row.alternatives[at++]?.values();
    return mapTexts(step, (completion, isHuman) => {
      const next = proposed?.next().value;
      return next === undefined ? completion : filledIn(completion, next, isHuman);
    });
  });
  const [asked] = row.prompt;
  return {
    ...source,
    question: { ...source.question, problem: asked?.content ?? '' },
    label: { ...source.label, steps },
  } as unknown as FileRow;
}

/** A rating that the file left out stays so, unless the row says more. */
function filledIn(
  completion: SourceCompletion,
  { text, rating: own }: LabelledStep,
  isHuman: boolean,
): SourceCompletion {
  const unrated = isHuman ? 1 : 0;
  const isUnrated = (completion.rating ?? null) === null && own === unrated;
  return { ...completion, text, ...(!isUnrated && { rating: own }) };
}

/** A step with its completions changed, that of a person last; all else, and the order of keys, stays. */
function mapTexts(
  step: SourceStep,
  change: (completion: SourceCompletion, isHuman: boolean) => SourceCompletion,
): SourceStep {
  const { completions, human_completion: human } = step;
  return {
    ...step,
    ...(completions !== null && { completions: completions.map((each) => change(each, false)) }),
    ...(isPlainObject(human) && { human_completion: change(human as SourceCompletion, true) }),
  };
}
