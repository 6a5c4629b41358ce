// A help desk: who takes which ticket, so that nobody works longer than they have hours?
/** @import { Environment } from 'espalier' */
import { uniform } from 'espalier/policies';
import { heuristic } from 'espalier/values';

const tickets = [
  { name: 'printer', hours: 2, skill: 'hardware' },
  { name: 'vpn', hours: 3, skill: 'network' },
  { name: 'laptop', hours: 4, skill: 'hardware' },
  { name: 'mail', hours: 3, skill: 'software' },
  { name: 'server', hours: 4, skill: 'network' },
  { name: 'licence', hours: 2, skill: 'software' },
];
/** @type {Readonly<Record<string, { readonly hours: number, readonly skills: readonly string[] }>>} */
const people = {
  Ada: { hours: 7, skills: ['hardware', 'network'] },
  Ben: { hours: 6, skills: ['hardware', 'software'] },
  Eve: { hours: 5, skills: ['network', 'software'] },
};

/** @typedef {readonly string[]} Taken - A state: who took the tickets so far, in order. */

/** These may take the next ticket. @param {Taken} taken */
export function actions(taken) {
  const ticket = tickets[taken.length];
  return Object.keys(people).filter(
    (name) => people[name].skills.includes(ticket?.skill) && hoursLeft(taken, name) >= ticket.hours,
  );
}

/** @param {Taken} taken @param {string} name */
function hoursLeft(taken, name) {
  const own = tickets.filter((_, place) => taken[place] === name);
  return own.reduce((hours, ticket) => hours - ticket.hours, people[name].hours);
}

/**
 * Where the problem starts, and what an action does. It ends with reward 1 when nothing is left to assign.
 *
 * @type {Environment<Taken, string> & Required<Pick<Environment<Taken, string>, 'notation'>>}
 */
export const environment = {
  name: 'help-desk',
  reset: () => ({ state: [] }),
  step(taken, name) {
    if (!actions(taken).includes(name)) throw new Error(`${name} cannot take this ticket.`);
    const state = [...taken, name];
    if (state.length === tickets.length) return { state, terminal: true, reward: 1 };
    return actions(state).length > 0 ? { state } : { state, terminal: true, reward: 0 };
  },
  key: (taken) => taken.join(),
  answer: (taken) => taken.map((name, place) => `${tickets[place].name}: ${name}`).join(', '),

  /** How states and actions look to a model, and in training rows. */
  notation: {
    prompt(taken) {
      const { name, hours, skill } = tickets[taken.length] ?? {};
      const open = tickets.slice(taken.length + 1).map((each) => `${each.name} (${each.hours} h)`);
      const free = Object.keys(people).map((each) => `${each} has ${hoursLeft(taken, each)} h`);
      const content = `${free.join(', ')}. Then come: ${open.join(', ') || 'none'}. Who takes ${name} (${hours} h of ${skill})? Answer with a name.`;
      return [{ role: 'user', content }];
    },
    format: (name) => name,
    parse(text) {
      const name = text.trim().replace(/\.$/, '');
      if (name in people) return { action: name };
      return { failure: { kind: 'parse', message: `Expected a name, got \`${text}\`.` } };
    },
  },
};

/** Without a model: everybody who may take the ticket, all alike. `fromModel({ model })` asks a model instead. */
export const policy = uniform(actions);

/** How good a state looks: the share of tickets that are taken. `judge({ model })` asks a model instead. */
export const value = heuristic((/** @type {Taken} */ taken) => taken.length / tickets.length);
