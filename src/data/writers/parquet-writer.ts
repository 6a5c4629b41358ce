import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { writeColumn } from 'hyparquet-writer/src/column.js';
import type { PageIndexes } from 'hyparquet-writer/src/types.js';
import { EspalierError } from '../../base/errors.ts';
import type { Columns } from '../formats/columns.ts';
import { expectColumns, expectNames, namedOf } from './leaf-values.ts';
import { type OutputFile, outputFile, type RowWriter } from './output-file.ts';
import { type Leaf, type Meter, shreddersOf } from './parquet-columns.ts';

/** A row group is held in memory: it ends with whichever comes first. */
const maxGroup = { rows: 2_500, characters: 8 * 1024 * 1024 };
/** Before compression, so that a viewer need not read a whole column for one page. */
const pageSize = 256 * 1024;

/**
 * Writes rows as Parquet: Snappy, row groups of at most 2,500 rows or about 8 MB of text, pages with an index.
 * Integers are INT64, floats DOUBLE, lists LIST groups, `json` text with the logical type JSON, which `datasets` from
 * 4.7 on reads as values. Half a surrogate pair becomes U+FFFD. A file may have no rows.
 *
 * @throws EspalierError `usage` where a column has no fields; `storage` if the file cannot be opened.
 */
export function parquetWriter(path: string, columns: Columns): RowWriter {
  expectColumns(columns);
  const names = namedOf(columns);
  const meter: Meter = { characters: 0 };
  const { schema, shredders } = shreddersOf(columns, meter);
  const leaves = shredders.flatMap((shredder) => shredder.leaves);
  const file = outputFile(path);
  const groups = rowGroups(file, schema, leaves);
  let rows = 0;
  const flush = (): void => {
    groups.add(rows);
    rows = 0;
    meter.characters = 0;
  };
  return {
    write(row) {
      expectNames(row, names);
      for (let index = 0; index < shredders.length; index++) {
        shredders[index]?.write(row[names[index]?.name ?? ''], 0);
      }
      rows += 1;
      if (rows >= maxGroup.rows || meter.characters >= maxGroup.characters) flush();
    },
    close() {
      if (rows > 0) flush();
      groups.end();
      file.close();
    },
    abandon: () => file.close(),
  };
}

/** The writer's own `write` takes rows apart by recursion, for each column anew: the columns come ready here. */
function rowGroups(file: OutputFile, schema: readonly SchemaElement[], leaves: readonly Leaf[]) {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema: [...schema], createdBy: 'espalier' });
  const drain = (): void => {
    file.append(new Uint8Array(writer.buffer, 0, writer.index));
    writer.index = 0;
  };
  return {
    /** Writes the contents of the leaves as a row group, and empties them. */
    add(rows: number): void {
      const start = writer.offset;
      const written = leaves.map((leaf) => writeLeaf(parquet, leaf));
      const columns = written.map(({ chunk }) => chunk);
      parquet.num_rows += BigInt(rows);
      parquet.pendingIndexes.push(...written);
      parquet.row_groups.push({
        columns,
        num_rows: BigInt(rows),
        total_byte_size: columns.reduce(
          (sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n),
          0n,
        ),
        total_compressed_size: BigInt(writer.offset - start),
      });
      drain();
    },
    /** Writes the footer of a file. */
    end(): void {
      void parquet.finish();
      drain();
    },
  };
}

function writeLeaf({ writer, compressors }: ParquetWriter, leaf: Leaf): PageIndexes {
  const { schemaPath, type, maxDefinitionLevel, values, definitionLevels, repetitionLevels } = leaf;
  const element = schemaPath.at(-1);
  if (element === undefined) throw new EspalierError('usage', 'A column has no place.');
  const written = writeColumn({
    writer,
    column: {
      columnName: schemaPath
        .slice(1)
        .map(({ name }) => name)
        .join('.'),
      element,
      schemaPath: [...schemaPath],
      codec: 'SNAPPY',
      compressors: { SNAPPY: compressors.SNAPPY },
      // The minimum and maximum of texts, or of the elements of lists, are of no use.
      stats: schemaPath.length === 2 && (type === 'float' || type === 'int'),
      pageSize,
      columnIndex: false,
      offsetIndex: true,
      ...(repeats(leaf) && { encoding: 'RLE_DICTIONARY' }),
    },
    pageData: { values, definitionLevels, repetitionLevels, maxDefinitionLevel },
  });
  leaf.values = [];
  leaf.definitionLevels = [];
  leaf.repetitionLevels = [];
  return written;
}

/**
 * Whether texts come again soon, as the sides of pairs do. The writer looks for that as well, but only at texts far
 * from each other.
 */
function repeats({ type, values }: Leaf): boolean {
  if (type !== 'string') return false;
  const some = values.slice(0, 1_000);
  return new Set(some).size * 2 <= some.length;
}
