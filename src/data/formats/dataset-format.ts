import { expectBoolean, expectFunction, expectText } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { RowKind, TrainingRow } from '../rows.ts';
import type { Columns, FileRow } from './columns.ts';
import type { DatasetFormat, FormatOptions, RowFormat, RowOfKind } from './format.ts';
import { provenanceColumns, writeProvenance } from './provenance-columns.ts';
import type { Reading } from './reading.ts';

/** A form as its file describes it. */
export interface Form<Kind extends RowKind> {
  /** The columns that the trainer reads, in order. */
  readonly columns: Columns;
  /** How its trainer is started, as Markdown. @defaultValue `''` */
  readonly usage?: string;
  /** The row as the trainer reads it; a sentence if this form cannot express it. */
  readonly write: (row: RowOfKind<Kind>) => FileRow | string;
  /** Whether it can express the images of a row. @defaultValue false: a row with images is refused */
  readonly showsImages?: boolean;
  readonly extraFiles?: NonNullable<RowFormat['extraFiles']>;
  readonly files?: NonNullable<RowFormat['files']>;
  /** How its rows are known and read. @defaultValue they are taken for those of another form */
  readonly reads?: Pick<Reading, 'fits' | 'needs' | 'parts'>;
}

/**
 * A format of some forms: each is what its trainer reads, and behind it the columns that tell where a row comes from.
 *
 * @param info - Its name, and readings of rows that this package does not write.
 * @param options - What the user gave.
 * @throws EspalierError `usage` for an option that formats do not have.
 */
export function datasetFormat<Kinds extends RowKind>(
  { readings = [], ...info }: Omit<DatasetFormat, 'forms'>,
  forms: { readonly [Kind in Kinds]: Form<Kind> },
  options: FormatOptions,
): DatasetFormat<Kinds> {
  expectOptions(info.name, options, 'render provenance endToken');
  const { provenance = true, render, endToken } = options;
  expectBoolean('provenance', provenance);
  if (render !== undefined) expectFunction('render', render);
  if (endToken !== undefined) expectText('endToken', endToken);
  // The compiler does not follow the kinds through a list of entries.
  const entries = Object.entries(forms).map(([kind, form]) => ({
    ...(form as Form<RowKind>),
    name: `${info.name}-${kind}`,
    kind: kind as RowKind,
  }));
  const written = entries.map((form) => [form.kind, rowFormat(form, provenance)]);
  return {
    ...info,
    forms: Object.fromEntries(written) as DatasetFormat<Kinds>['forms'],
    readings: [
      ...entries.flatMap(({ reads, name, kind, columns }) =>
        // A check sees a rollout as a completion that may be there several times.
        reads === undefined
          ? []
          : [{ name, kind: kind === 'rollout' ? ('sft' as const) : kind, columns, ...reads }],
      ),
      ...readings,
    ],
  };
}

const noAnswer =
  'The right answer is not known: a reward function would have nothing to compare with, and an empty one rewards everything.';
const noImages = 'The row shows images, which this form cannot say.';

function hasImages(row: TrainingRow): boolean {
  const sides: readonly (readonly Message[])[] =
    row.kind === 'preference'
      ? [row.chosen, row.rejected]
      : 'completion' in row
        ? [row.completion]
        : [];
  return [row.prompt, ...sides].some((turns) => turns.some(({ images = [] }) => images.length > 0));
}

function rowFormat(
  form: Form<RowKind> & Pick<RowFormat, 'kind' | 'name'>,
  provenance: boolean,
): RowFormat {
  const { name, kind, columns, usage = '', write, extraFiles, files, showsImages = false } = form;
  // A column that the trainer reads occurs once, where the trainer looks for it.
  const added = Object.entries(provenance ? provenanceColumns(kind) : {}).filter(
    ([column]) => !(column in columns),
  );
  return {
    name,
    kind,
    columns: { ...columns, ...Object.fromEntries(added) },
    usage,
    write(row) {
      const written = showsImages || !hasImages(row) ? write(row) : noImages;
      if (typeof written === 'string') return written;
      if (row.kind === 'prompt' && row.answer.trim() === '') return noAnswer;
      if (!provenance) return written;
      // Not by spreading: an object of that many keys would then be a slow one.
      const draft = writeProvenance(row);
      for (const column in written) draft[column] = written[column] ?? null;
      return draft;
    },
    ...(extraFiles !== undefined && { extraFiles }),
    ...(files !== undefined && { files }),
  };
}
