import type { StopReason } from '../search/contracts.ts';
import type { Arm } from './arms.ts';
import { mostFailed } from './bounds.ts';
import type { BenchCell } from './cell.ts';
import { budgetText, listed, percent, shortened } from './figures.ts';
import { leavesMuch, pointOf, spentOf } from './points.ts';
import { groupsOf } from './statistics.ts';

/**
 * What a reader has to know before trusting a number, each a sentence, the gravest first. That problems are too few, the
 * verdict says.
 *
 * @param of - The models that were asked, where they are known, and whether all answers were recorded before.
 */
export function warningsOf(
  arms: readonly Arm[],
  {
    task,
    models,
    isReplay,
  }: {
    readonly task: string;
    readonly models: readonly (string | null)[];
    readonly isReplay: boolean;
  },
): readonly string[] {
  const methods = groupsOf(
    arms,
    arms.map(({ method }) => method),
  );
  return [
    ...methods.flatMap(overspent),
    ...lost(methods, { task, isReplay }),
    ...unrewarded(arms),
    ...methods.flatMap(unfinished),
    ...methods.flatMap(unlimited),
    ...methods.flatMap(unused),
    ...unpriced(methods, models),
  ];
}

/** A search must never spend more than it was given. A deadline alone is noticed a moment late. */
function overspent(arms: readonly Arm[]): readonly string[] {
  return arms.flatMap(({ method, budget, cells }) => {
    const { unit, limit } = budget;
    const most = unit === 'ms' ? Math.max(1.05 * limit, limit + latestMs) : limit * (1 + 1e-9);
    const over = cells.map((cell) => spentOf(cell) ?? 0).filter((spent) => spent > most);
    if (over.length === 0) return [];
    const longest = budgetText({ unit, limit: Math.max(...over) });
    if (unit === 'ms') {
      return [
        `${method} ran for up to ${longest} with a deadline of ${budgetText(budget)}, in ${over.length} of ${cells.length} searches: this machine was too busy to notice the deadline in time. Lower the concurrency.`,
      ];
    }
    return [
      `BUDGET EXCEEDED: ${method} spent up to ${longest} with a budget of ${budgetText(budget)}, in ${over.length} of ${cells.length} searches. Comparisons at this budget are not fair; please report this as a bug.`,
    ];
  });
}

/** How late a timer may be on a machine that is not overloaded, in milliseconds. */
const latestMs = 50;

/** What may be lost of searches: those it is true of, and what that means. */
const losses: readonly {
  readonly of: (cell: BenchCell) => boolean;
  readonly what: string;
  /** The same where answers are those of a run. @defaultValue the same words */
  readonly replayed?: string;
  /** Why. @defaultValue the reason of the cell */
  readonly reason?: (cell: BenchCell) => string | undefined;
  /** The minimum share of the searches that is reported. */
  readonly least?: number;
}[] = [
  {
    of: ({ isOutage }) => isOutage === true,
    what: 'could not ask their model, count for nothing and are made again by the same command',
    replayed: 'asked for what was not recorded and count for nothing',
  },
  {
    of: ({ isBroken }) => isBroken === true,
    what: 'failed by an error in code of the task or of the method, count for nothing and are made again by the same command',
  },
  {
    of: ({ status, isOutage, isBroken }) =>
      status === 'failed' && isOutage !== true && isBroken !== true,
    what: 'failed and count as wrong',
  },
  {
    of: ({ status }) => status === 'unscored',
    what: 'could not be scored, are left out and are made again by the same command',
  },
  {
    // What a search lost on its way counts against it, and may be no fault of its own.
    of: ({ status, lost }) => status !== 'failed' && lost !== undefined,
    reason: ({ lost }) => lost?.reason,
    what: 'dropped steps that came to nothing',
    least: mostFailed,
  },
];

/** What searches lost, with the most common reason: methods of the same reason in one sentence. */
function lost(
  methods: readonly (readonly Arm[])[],
  { task, isReplay }: { readonly task: string; readonly isReplay: boolean },
): readonly string[] {
  return losses.flatMap(
    ({ of, what, replayed = what, reason = (cell) => cell.reason, least = 0 }) => {
      const found = methods.flatMap((arms) => {
        const cells = arms.flatMap((arm) => arm.cells);
        const hit = cells.filter(of);
        const why = commonest(hit.flatMap((cell) => reason(cell) ?? []));
        const text = `${hit.length} of ${cells.length} searches of ${cells[0]?.method}`;
        const { instance } = hit.find((cell) => reason(cell) === why) ?? {};
        return hit.length > least * cells.length ? [{ text, why, instance }] : [];
      });
      const reasons = found.map(({ why = '' }) => why);
      return groupsOf(found, reasons).map((group) => {
        const [{ why, instance = '' } = {}] = group;
        const where = `\`${shortened(instance, 60)}\` of \`${task}\``;
        const because =
          why === undefined ? '.' : `; the most common reason, as in ${where}: ${why}`;
        return `${listed(group.map(({ text }) => text))} ${isReplay ? replayed : what}${because}`;
      });
    },
  );
}

function commonest(texts: readonly string[]): string | undefined {
  const sorted = texts.toSorted();
  return groupsOf(sorted, sorted).toSorted((a, b) => b.length - a.length)[0]?.[0];
}

function unrewarded(arms: readonly Arm[]): readonly string[] {
  const cells = arms.flatMap((arm) => arm.cells);
  if (cells.some(({ isUnrewarded = false }) => !isUnrewarded)) return [];
  // Where no search has come to an end, none could be rewarded.
  if (cells.every(({ ends }) => ends.length === 0)) return [];
  return [
    'Nothing can be right: no step of any search was rewarded, and the task has no `oracle`. Let the environment reward right ends with 1, or give each instance an `oracle`.',
  ];
}

/** A budget that ends most searches before their first answer says little about the method. */
function unfinished(arms: readonly Arm[]): readonly string[] {
  const places = arms.flatMap(({ budget, cells }) => {
    const count = cells.filter(
      ({ isUnfinished, stopReason }) => isUnfinished && stopReason === 'budget',
    ).length;
    if (count <= mostFailed * cells.length) return [];
    return [`in ${count} of ${cells.length} searches at ${budgetText(budget)}`];
  });
  const [first] = arms;
  if (first === undefined || places.length === 0) return [];
  return [
    `${first.method} came to no final answer ${listed(places)}, because the budget ended first. Try larger budgets.`,
  ];
}

/** What its budget does not limit ends a search only after very many simulations. */
function unlimited(arms: readonly Arm[]): readonly string[] {
  return arms.flatMap(({ method, budget, cells }) => {
    const count = cells.filter(({ exceeded }) => exceeded === 'simulations').length;
    if (count === 0) return [];
    return [
      `${count} of ${cells.length} searches of ${method} ended after 10,000 simulations: a budget of ${budgetText(budget)} does not limit what costs nothing. Use a budget in ms, or in calls where calls are made.`,
    ];
  });
}

const whyEnded: Readonly<Record<StopReason | 'simulations', string>> = {
  simulations: 'they made 10,000 simulations',
  solved: 'they were solved',
  budget: 'the next call would have exceeded it',
  exhausted: 'nothing was left to search',
  stopped: 'a stop condition ended them',
  failed: 'they could not continue',
};

function unused(arms: readonly Arm[]): readonly string[] {
  const found = arms
    .map((arm) => ({ ...pointOf(arm), why: commonEnd(arm) }))
    // Failures have a warning of their own.
    .filter((point) => leavesMuch(point) && point.why.reason !== 'failed');
  const [first] = found;
  if (first === undefined) return [];
  const reasons = found.map(({ why }) => why.reason);
  const groups = groupsOf(found, reasons).map((group) => {
    const places = group.map((point) => `${percent(point.unused)} of ${budgetText(point.budget)}`);
    const sum = (field: 'count' | 'of') => group.reduce((total, { why }) => total + why[field], 0);
    return `${listed(places)}, because ${whyEnded[group[0]?.why.reason ?? 'budget']} in ${sum('count')} of ${sum('of')}`;
  });
  return [
    `${first.method} left budget unused in searches that were not solved: ${groups.join('; ')}.`,
  ];
}

/** Why most of the searches of an arm ended that were not solved. */
function commonEnd({ cells }: Arm) {
  const ends = cells
    .map(({ stopReason, exceeded }) => (exceeded === 'simulations' ? exceeded : stopReason))
    .filter((reason) => reason !== 'solved')
    .sort();
  const [common = []] = groupsOf(ends, ends).toSorted((a, b) => b.length - a.length);
  return { reason: common[0] ?? 'budget', count: common.length, of: ends.length };
}

function unpriced(
  methods: readonly (readonly Arm[])[],
  models: readonly (string | null)[],
): readonly string[] {
  const names = methods
    .filter((arms) => arms.some(({ cells }) => cells.some(({ usd }) => usd === null)))
    .map(([first]) => first?.method ?? '');
  if (names.length === 0) return [];
  const asked = [...new Set(models.flatMap((model) => model ?? []))];
  const which = asked.length === 0 ? 'a model' : asked.map((model) => `\`${model}\``).join(' or ');
  const where = names.length === methods.length ? '' : ` of ${listed(names)}`;
  return [
    `Price unknown for ${which}: dollars${where} are missing. Name the price with \`--price-in\` and \`--price-out\` (\`prices\` in code) and another folder with \`--out\`; \`--cache\` with the \`recording\` of this one buys nothing again.`,
  ];
}
