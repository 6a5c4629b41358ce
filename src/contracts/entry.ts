/** List entry of An item that can be chosen by name, as described, commands and documents. */
export interface Entry<Create> {
  /** The name in commands, results and datasets, in kebab-case. */
  readonly name: string;
  /** The name in prose. */
  readonly title: string;
  /** The paper: authors, title, year, number. */
  readonly paper?: string;
  /** Makes it with its defaults. */
  readonly create: Create;
}
