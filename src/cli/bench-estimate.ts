import { counted } from '../base/counted.ts';
import { type Estimate, estimateOf, type UnitEstimate } from '../bench/estimate.ts';
import { amount, budgetText, dollars } from '../bench/figures.ts';
import type { BenchBudget } from '../bench/report.ts';
import type { ModelPrice } from '../contracts/language-model.ts';
import { heldAlready } from './generate-dry-run.ts';
import { print } from './output.ts';

/** How large a benchmark is. */
interface Size {
  readonly instances: number;
  readonly methods: number;
  readonly seeds: number;
  readonly budgets: readonly BenchBudget[];
}

/** Says what a benchmark may cost: a line for each unit of its budgets. */
export function sayEstimate(
  size: Size,
  {
    json,
    line,
    price,
    hasModel,
    out,
  }: {
    readonly json: boolean;
    readonly line: string;
    readonly price: ModelPrice | undefined;
    readonly hasModel: boolean;
    /** The folder of the benchmark. */
    readonly out: string;
  },
): void {
  const estimate = estimateOf(size, price);
  const text = json
    ? JSON.stringify(estimate, undefined, 2)
    : [
        ...[line, '', summary(size, estimate)],
        ...estimate.units.map(describe),
        ...heldAlready(out),
        ...(hasModel && price === undefined
          ? ['The price of the model is unknown: set `--price-in` and `--price-out`.']
          : []),
      ].join('\n');
  print(text);
}

function summary({ instances, methods, budgets, seeds }: Size, { searches }: Estimate): string {
  const parts = [
    counted(instances, 'problem'),
    counted(methods, 'method'),
    counted(budgets.length, 'budget'),
    counted(seeds, 'seed'),
  ];
  return `${parts.join(', ')}: ${counted(searches, 'search', amount(searches))}.`;
}

const unbounded: Readonly<Record<BenchBudget['unit'], string>> = {
  calls: ' A budget in calls bounds neither tokens nor dollars.',
  ms: ' A budget in time bounds neither tokens nor dollars.',
  tokens: '',
  usd: '',
};

function describe({ unit, searches, most, likely, usd }: UnitEstimate): string {
  const text = (limit: number, price: number | undefined) =>
    `${budgetText({ unit, limit })}${price === undefined || price === 0 ? '' : ` (at most ${dollars(price)})`}`;
  const named = { calls: 'calls', ms: 'time', tokens: 'tokens', usd: 'dollars' }[unit];
  return `Budgets in ${named}, ${counted(searches, 'search', amount(searches))}: upper bound ${text(most, usd?.most)}; likely to pay ${text(likely, usd?.likely)} or less (shared requests are paid once).${unbounded[unit]}`;
}
