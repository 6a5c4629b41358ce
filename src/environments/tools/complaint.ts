import { messageOf } from '../../base/failure.ts';

/** What a function of a user threw, in words; and what to do, where it tried to change something frozen. */
export function complaintOf(thrown: unknown): string {
  const message = messageOf(thrown);
  const isChange = /read only property|not extensible|Cannot (?:delete|redefine) property/;
  if (!(thrown instanceof TypeError && isChange.test(message))) return message;
  return `${message}. What it is given cannot be changed: a \`pure\` tool returns a new state, and others change a copy.`;
}
