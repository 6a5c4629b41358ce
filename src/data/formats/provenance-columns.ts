import type { RowKind, RowProvenance, TrainingRow } from '../rows.ts';
import type { Columns, ColumnValue } from './format.ts';

/** Where any row comes from. What is free in shape stands as JSON text, so that each column has one type. */
const origin: Columns = {
  problem_id: 'string',
  tree_id: 'string',
  node_ids: { list: 'int' },
  depth: 'int',
  node_visits: { list: 'int' },
  node_values: { list: 'float' },
  node_parts: 'string',
  models: { list: 'string' },
  method: 'string',
  rule: 'string',
  seed: 'string',
  guidance: 'string',
  stamps: { list: 'string' },
};

/** The columns that tell where a row comes from and what is known of it. No trainer needs them. */
export const provenanceColumns: Readonly<Record<RowKind, Columns>> = {
  preference: {
    ...origin,
    chosen_value: 'float',
    rejected_value: 'float',
    margin: 'float',
    weight: 'float',
    label_smoothing: 'float',
    chosen_ends: 'boolean',
    rejected_ends: 'boolean',
  },
  prompt: { ...origin, value: 'float', solve_rate: 'float' },
  rollout: { ...origin, sampling: 'string' },
  sft: { ...origin, score: 'float', weight: 'float', ends: 'boolean' },
  stepwise: {
    ...origin,
    step_values: { list: 'float' },
    step_ratings: { list: 'int' },
    delimiter: 'string',
    right: { optional: 'boolean' },
  },
  unpaired: { ...origin, score: 'float', ends: 'boolean' },
};

/** A row that is being put together. */
export type RowDraft = Record<string, ColumnValue>;

/** The values of these columns for one row, in a new object. */
export function writeProvenance(row: TrainingRow): RowDraft {
  const draft = originOf(row.provenance);
  switch (row.kind) {
    case 'preference':
      draft['chosen_value'] = row.chosenScore;
      draft['rejected_value'] = row.rejectedScore;
      draft['margin'] = row.margin;
      draft['weight'] = row.weight;
      draft['label_smoothing'] = row.labelSmoothing;
      draft['chosen_ends'] = row.chosenEnds;
      draft['rejected_ends'] = row.rejectedEnds;
      break;
    case 'prompt':
      draft['value'] = row.value;
      draft['solve_rate'] = row.solveRate;
      break;
    case 'rollout':
      draft['sampling'] = row.sampling;
      break;
    case 'sft':
      draft['score'] = row.score;
      draft['weight'] = row.weight;
      draft['ends'] = row.ends;
      break;
    case 'stepwise':
      draft['step_values'] = row.steps.map(({ value }) => value);
      draft['step_ratings'] = row.steps.map(({ rating }) => rating);
      draft['delimiter'] = row.delimiter;
      draft['right'] = row.right ?? null;
      break;
    case 'unpaired':
      draft['score'] = row.score;
      draft['ends'] = row.ends;
      break;
  }
  return draft;
}

function originOf(provenance: RowProvenance): RowDraft {
  return {
    problem_id: provenance.problem,
    tree_id: provenance.tree,
    node_ids: provenance.nodes,
    depth: provenance.depth,
    node_visits: provenance.visits,
    node_values: provenance.values,
    node_parts: partsText(provenance.parts),
    models: provenance.models,
    method: provenance.method,
    rule: provenance.rule,
    seed: provenance.seed,
    guidance: provenance.guidance,
    stamps: provenance.stamps,
  };
}

/** The parts of a node stand in several rows that follow each other: the texts of the last few are kept. */
const recent = {
  parts: Array.from<object | undefined>({ length: 8 }),
  texts: Array.from<string>({ length: 8 }),
  next: 0,
};

function partsText(all: RowProvenance['parts']): string {
  let text = '';
  for (const parts of all) text += (text === '' ? '[' : ',') + partText(parts);
  return text === '' ? '[]' : `${text}]`;
}

function partText(parts: Readonly<Record<string, number>>): string {
  const known = recent.texts[recent.parts.indexOf(parts)];
  if (known !== undefined) return known;
  const text = JSON.stringify(parts);
  // One without parts is made anew for each row.
  if (text !== '{}') {
    recent.parts[recent.next] = parts;
    recent.texts[recent.next] = text;
    recent.next = (recent.next + 1) % recent.parts.length;
  }
  return text;
}
