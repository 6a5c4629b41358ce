import { mean } from '../base/stats/mean.ts';
import type { Message } from '../contracts/language-model.ts';
import type { NodeId, SearchNode } from '../contracts/node.ts';
import { knownValue } from '../tree/selection.ts';
import { isEnd, promptAt, type TreeRecord } from './record.ts';
import type { RowProvenance, RuleInfo, TrainingRow } from './rows.ts';

/** The description of a rule, without its implementation. */
export function infoOf({ title, paper, options }: RuleInfo): Omit<RuleInfo, 'name'> {
  return {
    ...(title !== undefined && { title }),
    ...(paper !== undefined && { paper }),
    ...(options !== undefined && { options }),
  };
}

/** The properties common to rows of all kinds, given their rule, their nodes and the start of their completion. */
export function rowBase<State, Action>(
  record: TreeRecord<State, Action>,
  origin: RowOrigin<State, Action>,
): Pick<TrainingRow, 'prompt' | 'provenance' | 'tools'> {
  const { prompt = promptAt(record, origin.from) } = origin;
  const { tools = record.notation.tools } = record;
  return {
    prompt,
    ...(tools !== undefined && { tools }),
    provenance: rowProvenance(record, origin),
  };
}

function rowProvenance<State, Action>(
  record: TreeRecord<State, Action>,
  { rule, nodes, from }: RowOrigin<State, Action>,
): RowProvenance {
  const { problem, id = problem, tree, models = [], method = '' } = record;
  return {
    problem,
    tree: id,
    nodes: nodes.map((node): NodeId => node.id),
    depth: from.depth,
    visits: nodes.map(({ visits }) => visits),
    values: nodes.map((node) => knownValue(node, tree)),
    parts: nodes.map(partsOf),
    models,
    method,
    rule,
    seed: String(tree.origin.seed),
    guidance: guidanceOf(record),
    stamps: [...tree.stamps].toSorted(),
  };
}

type Parts = RowProvenance['parts'][number];

/** A node occurs in several rows: its parts are made once, and again if it has been evaluated since. */
const known = new WeakMap<SearchNode, { readonly samples: number; readonly parts: Parts }>();

/** As the value of a node is the mean of its samples, each part is that of the samples that have it. */
function partsOf(node: SearchNode): Parts {
  const { evaluations } = node;
  const before = known.get(node);
  if (before?.samples === evaluations.length) return before.parts;
  const samples = evaluations.map(({ parts = {} }) => parts);
  const names = new Set(samples.flatMap((parts) => Object.keys(parts)));
  const parts = Object.fromEntries(
    [...names].map((name) => [name, mean(samples.flatMap((own) => own[name] ?? []))]),
  );
  known.set(node, { samples: evaluations.length, parts });
  return parts;
}

/** The input from which a row is made. */
interface RowOrigin<State, Action> {
  readonly rule: string;
  readonly nodes: readonly SearchNode<State, Action>[];
  /** The node where the completion starts. */
  readonly from: SearchNode<State, Action>;
  /** What the model is shown. @defaultValue the prompt at `from` */
  readonly prompt?: readonly Message[];
}

/** Found once a tree: a tree that has grown since is looked at again. */
const guidances = new WeakMap<
  object,
  { readonly size: number; readonly guidance: RowProvenance['guidance'] }
>();

function guidanceOf<State, Action>({ tree }: TreeRecord<State, Action>): RowProvenance['guidance'] {
  if (tree.stamps.has('oracle-guided')) return 'oracle-guided';
  const known = guidances.get(tree);
  if (known?.size === tree.size) return known.guidance;
  const isRewarded = [...tree.nodes()].some((node) => isEnd(node) && node.reward !== undefined);
  const guidance = isRewarded ? 'rewarded' : 'self-evaluated';
  guidances.set(tree, { size: tree.size, guidance });
  return guidance;
}
