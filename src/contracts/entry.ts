/** Something that can be chosen by its name: how lists, commands and documents tell of it. */
export interface Entry<Create> {
  /** The name in commands, results and datasets, in kebab-case. */
  readonly name: string;
  /** What it is called in prose. */
  readonly title: string;
  /** The paper: authors, title, year, number. */
  readonly paper?: string;
  /** Makes it with its defaults. */
  readonly create: Create;
}
