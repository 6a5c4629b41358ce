/** What is wrong with any action in a solved state. */
export function solvedMessage(action: string): string {
  return `Expected no action in a solved state, got \`${action}\`.`;
}
