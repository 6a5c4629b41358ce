import { EspalierError } from '../base/errors.ts';
import { describeValue, expectation, expectMethods } from '../base/expect.ts';
import type { TreeRecord } from './record.ts';
import type { RowRule, TrainingRow } from './rows.ts';

/** A rule that refuses what are no trees in a sentence. */
export function rowRule<Row extends TrainingRow>(rule: RowRule<Row>): RowRule<Row> {
  return {
    ...rule,
    rows<State, Action>(
      trees: readonly TreeRecord<State, Action>[],
      leaveOut?: (reason: string) => void,
    ) {
      expectTrees('trees', trees);
      return rule.rows(trees, leaveOut);
    },
  };
}

/**
 * For callers without types.
 *
 * @throws EspalierError `usage` unless these are the trees of a problem, each with the notation that shows it.
 */
export function expectTrees(name: string, trees: unknown): void {
  if (!Array.isArray(trees)) {
    throw expectation(name, 'an array, such as `[{ problem, tree, notation }]`', trees);
  }
  for (const [place, record] of (trees as unknown[]).entries()) {
    const at = `${name}[${place}]`;
    const { tree, notation } = Object(record) as Partial<TreeRecord>;
    if (typeof Object(tree).nodes !== 'function') {
      const expected = 'a search tree (`tree` of a result, or `treeFromJson` of what was saved)';
      throw expectation(`${at}.tree`, expected, tree);
    }
    expectMethods(`${at}.notation`, notation, ['prompt', 'format']);
  }
}

/**
 * For rules that others wrote.
 *
 * @throws EspalierError `usage` if the rule makes something else than rows of its kind.
 */
export function* rowsOf(
  { name, kind, rows }: Pick<RowRule, 'kind' | 'name' | 'rows'>,
  trees: readonly TreeRecord[],
  leaveOut: (reason: string) => void,
): Generator<TrainingRow, void, undefined> {
  const made: unknown = rows(trees, leaveOut);
  if (typeof made !== 'object' || made === null || !(Symbol.iterator in made)) {
    throw new EspalierError(
      'usage',
      `Expected \`rows\` of the rule \`${name}\` to return an iterable of rows, got ${describeValue(made)}.`,
    );
  }
  for (const row of made as Iterable<TrainingRow>) {
    const own = Object(row) as Partial<TrainingRow>;
    const isRow = own.kind === kind && Array.isArray(own.prompt);
    if (!isRow || typeof own.provenance !== 'object') {
      const got = isRow ? 'none' : describeValue(row);
      throw new EspalierError(
        'usage',
        `Expected each row of the rule \`${name}\` to have the \`kind\` \`${kind}\`, a \`prompt\` and a \`provenance\`, got ${got}.`,
      );
    }
    yield row;
  }
}
