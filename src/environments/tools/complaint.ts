import { messageOf } from '../../base/failure.ts';

/** The message of an exception from a user's function, with advice if it tried to change something frozen. */
export function complaintOf(thrown: unknown): string {
  const message = messageOf(thrown);
  const isChange = /read only property|not extensible|Cannot (?:delete|redefine) property/;
  if (!(thrown instanceof TypeError && isChange.test(message))) return message;
  return `${message}. Its arguments cannot be changed: a \`pure\` tool returns a new state, and others change a copy.`;
}
