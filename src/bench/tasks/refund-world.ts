import type { Random } from '../../contracts/context.ts';
import { between, call, expectThat, type ToolTask, text } from './tool-task.ts';

type Amounts = Readonly<Record<string, number>>;

interface Account {
  readonly balance: number;
  readonly refunded: readonly string[];
  readonly bought: readonly string[];
  readonly told: boolean;
}

function refundTools(
  { prices, orders }: Readonly<Record<'orders' | 'prices', Amounts>>,
  hasTraps: boolean,
): ToolTask<Account>['tools'] {
  const isOpen = ({ told }: Account) => expectThat(!told, 'The case is closed.');
  return {
    look: {
      effect: 'read',
      input: text(),
      does: () => ({ output: JSON.stringify({ prices, orders }) }),
    },
    refund: {
      effect: 'pure',
      input: text('order'),
      does(db, { order }) {
        isOpen(db);
        expectThat(db.refunded.length === 0, 'One refund a customer.');
        expectThat(!hasTraps || db.bought.length === 0, 'No refund after a purchase.');
        const balance = db.balance + (orders[order] ?? 0);
        return { state: { ...db, balance, refunded: [order] }, output: `${balance} left` };
      },
    },
    rebook: {
      effect: 'pure',
      input: text('order'),
      does(db, { order }) {
        isOpen(db);
        expectThat(!hasTraps && db.refunded.includes(order), 'It cannot be rebooked.');
        const balance = db.balance - (orders[order] ?? 0);
        expectThat(balance >= 0, 'Too little is left.');
        return { state: { ...db, balance, refunded: [] }, output: `${balance} left` };
      },
    },
    buy: {
      effect: 'pure',
      input: text('item'),
      does(db, { item }) {
        isOpen(db);
        const balance = db.balance - (prices[item] ?? 0);
        expectThat(!db.bought.includes(item), 'It is bought.');
        expectThat(balance >= 0, 'Too little is left.');
        return {
          state: { ...db, balance, bought: [...db.bought, item].sort() },
          output: `${balance} left`,
        };
      },
    },
    giveBack: {
      effect: 'pure',
      input: text('item'),
      does(db, { item }) {
        isOpen(db);
        expectThat(!hasTraps && db.bought.includes(item), 'It cannot be given back.');
        const balance = db.balance + (prices[item] ?? 0);
        const bought = db.bought.filter((one) => one !== item);
        return { state: { ...db, balance, bought }, output: `${balance} left` };
      },
    },
    mail: {
      effect: 'irreversible',
      input: text(),
      does(db) {
        isOpen(db);
        return { state: { ...db, told: true }, output: 'sent' };
      },
    },
  };
}

/**
 * Two things to buy, for which the balance only suffices after the right one of three orders is refunded. With traps
 * there is one refund, none after a purchase, nothing can be returned, and the mail can be sent too early.
 */
export function refund(random: Random, hasTraps: boolean): ToolTask<Account> {
  const prices: Readonly<Record<string, number>> = {
    lamp: between(random, 20, 40),
    desk: between(random, 40, 80),
    rug: between(random, 5, 15),
  };
  const wanted = ['desk', 'lamp'];
  const cost = wanted.reduce((sum, item) => sum + (prices[item] ?? 0), 0);
  const lack = between(random, 10, 19);
  const right = random.integer(3);
  const orders: Readonly<Record<string, number>> = Object.fromEntries(
    ['o1', 'o2', 'o3'].map((id, place) => [
      id,
      place === right ? lack + random.integer(4) : between(random, 2, lack - 1),
    ]),
  );
  const isBought = ({ bought }: Account) => [...bought].sort().join() === wanted.join();
  return {
    kind: 'refund',
    hasTraps,
    text: `Buy a desk and a lamp for the customer, nothing else, and tell them by mail. One order may be refunded.`,
    start: { balance: cost - lack, refunded: [], bought: [], told: false },
    tools: refundTools({ prices, orders }, hasTraps),
    calls: [
      call('look'),
      ...Object.keys(orders).flatMap((order) => [
        call('refund', { order }),
        call('rebook', { order }),
      ]),
      ...Object.keys(prices).flatMap((item) => [call('buy', { item }), call('giveBack', { item })]),
      call('mail'),
    ],
    isDone: (db) => db.told && isBought(db),
    parts: (db) => [
      db.refunded.length > 0,
      ...wanted.map((item) => db.bought.includes(item)),
      !db.bought.includes('rug'),
      db.told,
    ],
    refuses: (tool, db) =>
      hasTraps || tool !== 'mail' || isBought(db) ? undefined : 'Not all is bought.',
  };
}
