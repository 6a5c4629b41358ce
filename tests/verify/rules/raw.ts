/** Published trees as plain objects, read with `JSON.parse` and loops: none of our code has a part in it. */
export type Turn = readonly [role: string, content: string, calls: readonly unknown[]];

/** A node of a tree: what was said at it, and what came of it. */
export interface Raw {
  /** The step in words; empty at the root. */
  readonly text: string;
  /** The step as a turn of a conversation. */
  readonly turn: Turn;
  /** What the policy saw behind it. */
  readonly context: readonly Turn[];
  /** The step as a reward model is shown it. */
  readonly shown: string;
  readonly parent: Raw | undefined;
  readonly children: Raw[];
  /** What was estimated at it; `undefined` where nothing was. */
  estimate: number | undefined;
  /** Whether nothing can follow, and then whether it is right. */
  readonly right: boolean | undefined;
  /** The share of won leaves, or the estimate. */
  q: number;
  /** How many leaves count for it. */
  n: number;
  prior: number;
  /** The sibling that says the same and came first. */
  twinOf: Raw | undefined;
}

/** A tree with all its nodes, level by level. */
export interface RawTree {
  readonly name: string;
  readonly text: string;
  readonly root: Raw;
  readonly nodes: readonly Raw[];
  readonly answer: string;
  readonly parted: string;
  /** Whether wrong ends are listed. */
  readonly isWhole: boolean;
  readonly question: string;
}

/** What was made once of an object is not made again. */
export function once<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const made = new WeakMap<Of, Made>();
  return (of: Of): Made => {
    if (!made.has(of)) made.set(of, make(of));
    return made.get(of) as Made;
  };
}

/** The same for nodes before which the policy saw the same. */
export const placeKey: (node: Raw) => string = once((node: Raw): string =>
  JSON.stringify(node.parent?.context),
);

/** The same for equal steps behind which the way parts. */
export const stepKey: (node: Raw) => string = once((node: Raw): string =>
  JSON.stringify([placeKey(node), node.text.trim()]),
);

/** The nodes below the root down to one. */
export const wayTo: (node: Raw) => readonly Raw[] = once((node) =>
  node.parent === undefined ? [] : [...wayTo(node.parent), node],
);

export function levels(root: Raw): readonly Raw[] {
  const nodes = [root];
  for (const node of nodes) nodes.push(...node.children);
  return nodes;
}

/** Of equal siblings the preferred one stands for the others, whose leaves count for it. */
export function settle(nodes: readonly Raw[], prefers: (node: Raw) => boolean): void {
  for (const { children } of nodes) mergeEqual(children, prefers);
  for (const leaf of nodes.filter(({ children }) => children.length === 0)) {
    for (const at of upFrom(leaf.twinOf ?? leaf)) at.n += 1;
  }
}

function mergeEqual(children: readonly Raw[], prefers: (node: Raw) => boolean): void {
  const ranked = [...children.filter(prefers), ...children.filter((node) => !prefers(node))];
  for (const node of children) {
    const first = ranked.find((other) => other.text === node.text);
    node.twinOf = first === node ? undefined : first;
    const share = first ?? node;
    share.prior += 1 / children.length;
  }
}

/** A node and all above it. */
export function upFrom(node: Raw): readonly Raw[] {
  return node.parent === undefined ? [node] : [node, ...upFrom(node.parent)];
}

/** A node of which nothing is known but what was said. */
export function blank(
  said: Pick<Raw, 'context' | 'parent' | 'shown' | 'text' | 'turn'>,
  right: boolean | undefined,
): Raw {
  const none = { estimate: undefined, q: 0, n: 0, prior: 0, twinOf: undefined };
  return { ...said, ...none, right, children: [] };
}
