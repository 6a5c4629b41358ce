// Tasks with tools, made from a seed: shops and databases small enough to know every state of them.
import { type Random, seededRandom } from 'espalier';
import * as z from 'zod';

/** A call of a tool. */
export interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, string>>;
}

/** What a tool does, to data that it leaves as they are. It throws where it cannot. */
export interface Deed<Db = any, Input = any> {
  readonly effect: 'irreversible' | 'pure' | 'read';
  readonly input: z.ZodType<Record<string, string>>;
  does(db: Db, input: Input): { readonly state?: Db; readonly output: string };
}

export interface Task<Db = any> {
  readonly kind: string;
  /** Whether a wrong call may lead to where nothing can be made good. */
  readonly hasTraps: boolean;
  readonly text: string;
  readonly start: Db;
  readonly tools: Readonly<Record<string, Deed<Db>>>;
  /** All calls that are ever made, the right ones among them. */
  readonly calls: readonly Call[];
  isDone(db: Db): boolean;
  /** What a judge can see of how far it is, whatever may still come of it. */
  parts(db: Db): readonly boolean[];
  /** Why the last call may not be made yet. */
  refuses(tool: string, db: Db): string | undefined;
}

const kinds = [shop('stock'), shop('voucher'), shop('carts'), refund, merge];

/** As many tasks, of five kinds in turn; every third round of them has traps. */
export function tasksOf(seed: string, count: number): readonly Task[] {
  return Array.from({ length: count }, (_, place) => {
    const make = kinds[place % kinds.length] ?? refund;
    return make(seededRandom(`${seed}/${place}`), Math.floor(place / kinds.length) % 3 === 2);
  });
}

const text = (...names: readonly string[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
const call = (tool: string, input: Call['input'] = {}): Call => ({ tool, input });
const between = (random: Random, low: number, high: number) => low + random.integer(high - low + 1);

function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}

interface Shop {
  readonly cart: Readonly<Record<string, string>>;
  readonly voucher: string;
  readonly ordered: boolean;
}

const items = ['bread', 'cheese', 'tea'];
const sellers = ['north', 'south', 'west'];
type ShopKind = 'carts' | 'stock' | 'voucher';

/** What is for sale, and the most that the order may cost. */
function marketOf(kind: ShopKind, random: Random) {
  const offers = items.flatMap((item) =>
    sellers.map((seller, place) => ({
      ...{ item, seller, price: between(random, 3, 12) },
      // The first seller has all, so that there is a cart.
      isThere: place === 0 || kind !== 'stock' || random.next() < 0.6,
    })),
  );
  const fees = sellers.map((seller) => ({
    seller,
    fee: kind === 'carts' ? between(random, 2, 6) : 0,
  }));
  const vouchers: Readonly<Record<string, number>> =
    kind === 'voucher' ? { none: 0, five: 5, fourth: 0 } : { none: 0 };
  const totalOf = ({ cart, voucher }: Shop) => {
    const goods = offers.filter(({ item, seller }) => cart[item] === seller);
    const sum = goods.reduce((all, { price }) => all + price, 0);
    const used = fees.filter(({ seller }) => Object.values(cart).includes(seller));
    const off = voucher === 'fourth' ? Math.floor(sum / 4) : (vouchers[voucher] ?? 0);
    return sum + used.reduce((all, { fee }) => all + fee, 0) - off;
  };
  const carts = sellers.flatMap((bread) =>
    sellers.flatMap((cheese) => sellers.map((tea) => ({ bread, cheese, tea }))),
  );
  const isInStock = (cart: Shop['cart']) =>
    items.every((item) =>
      offers.some((offer) => offer.item === item && offer.seller === cart[item] && offer.isThere),
    );
  const totals = carts
    .filter(isInStock)
    .flatMap((cart) =>
      Object.keys(vouchers).map((voucher) => totalOf({ cart, voucher, ordered: false })),
    );
  const limit = Math.min(...totals) + (kind === 'carts' ? 0 : 1);
  const isFull = ({ cart }: Shop) => items.every((item) => cart[item] !== undefined);
  return { offers, fees, vouchers, totalOf, limit, isFull };
}

function shopTools(
  { offers, fees, vouchers, totalOf }: ReturnType<typeof marketOf>,
  hasTraps: boolean,
): Task<Shop>['tools'] {
  const isOpen = ({ ordered }: Shop) => expectThat(!ordered, 'The order is placed.');
  return {
    look: {
      effect: 'read',
      input: text('item'),
      does: (_db, { item }) => ({
        output: JSON.stringify({ offers: offers.filter((offer) => offer.item === item), fees }),
      }),
    },
    add: {
      effect: 'pure',
      input: text('item', 'seller'),
      does(db, { item, seller }) {
        isOpen(db);
        expectThat(db.cart[item] === undefined, `There is ${item} in the cart.`);
        const offer = offers.find((one) => one.item === item && one.seller === seller);
        expectThat(offer?.isThere === true, 'Out of stock.');
        const state = { ...db, cart: { ...db.cart, [item]: seller } };
        return { state, output: `${totalOf(state)} in all` };
      },
    },
    remove: {
      effect: 'pure',
      input: text('item'),
      does(db, { item }) {
        isOpen(db);
        expectThat(!hasTraps, 'It is sold as final.');
        expectThat(db.cart[item] !== undefined, `There is no ${item} in the cart.`);
        const cart = Object.entries(db.cart).filter(([name]) => name !== item);
        return { state: { ...db, cart: Object.fromEntries(cart) }, output: 'removed' };
      },
    },
    voucher: {
      effect: 'pure',
      input: text('code'),
      does(db, { code }) {
        isOpen(db);
        expectThat(code in vouchers && code !== db.voucher, 'It cannot be used.');
        expectThat(!hasTraps || db.voucher === 'none', 'One voucher an order.');
        const state = { ...db, voucher: code };
        return { state, output: `${totalOf(state)} in all` };
      },
    },
    order: {
      effect: 'irreversible',
      input: text(),
      does(db) {
        isOpen(db);
        return { state: { ...db, ordered: true }, output: 'ordered' };
      },
    },
  };
}

/**
 * Three items from three sellers for the least money: some are out of stock; or one voucher of two is wanted; or each
 * seller has a fee, so that the cheapest cart is not that of the cheapest items. With traps what is in the cart stays
 * there, a voucher is used up, and any cart can be ordered.
 */
function shop(kind: ShopKind) {
  return (random: Random, hasTraps: boolean): Task<Shop> => {
    const market = marketOf(kind, random);
    const { vouchers, totalOf, limit, isFull } = market;
    return {
      kind,
      hasTraps,
      text: `Order ${items.join(', ')} for at most ${limit} in all.`,
      start: { cart: {}, voucher: 'none', ordered: false },
      tools: shopTools(market, hasTraps),
      calls: [
        ...items.flatMap((item) => sellers.map((seller) => call('add', { item, seller }))),
        ...items.map((item) => call('remove', { item })),
        ...items.map((item) => call('look', { item })),
        ...['five', 'fourth']
          .filter((code) => code in vouchers)
          .map((code) => call('voucher', { code })),
        call('order'),
      ],
      isDone: (db) => db.ordered && isFull(db) && totalOf(db) <= limit,
      parts: (db) => [
        ...items.map((item) => db.cart[item] !== undefined),
        totalOf(db) <= limit,
        db.ordered,
      ],
      refuses: (tool, db) =>
        hasTraps || tool !== 'order' || (isFull(db) && totalOf(db) <= limit)
          ? undefined
          : 'The cart is not full, or costs too much.',
    };
  };
}

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
): Task<Account>['tools'] {
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
function refund(random: Random, hasTraps: boolean): Task<Account> {
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

interface Tables {
  readonly orders: Readonly<Record<string, string>>;
  readonly accounts: readonly string[];
  readonly plan: string;
  readonly told: string;
}

function mergeTools(hasTraps: boolean): Task<Tables>['tools'] {
  const isOpen = ({ told }: Tables) => expectThat(told === '', 'The case is closed.');
  return {
    move: {
      effect: 'pure',
      input: text('order', 'to'),
      does(db, { order, to }) {
        isOpen(db);
        expectThat(db.orders[order] !== undefined, 'There is no such order.');
        expectThat(db.accounts.includes(to), 'There is no such account.');
        return { state: { ...db, orders: { ...db.orders, [order]: to } }, output: 'moved' };
      },
    },
    drop: {
      effect: 'pure',
      input: text('account'),
      does(db, { account }) {
        isOpen(db);
        expectThat(db.accounts.includes(account), 'There is no such account.');
        const isHeld = account !== 'old' || Object.values(db.orders).includes(account);
        expectThat(hasTraps || !isHeld, 'It has orders.');
        const orders = Object.entries(db.orders).filter(([, of]) => of !== account);
        const accounts = db.accounts.filter((one) => one !== account);
        return {
          state: { ...db, accounts, orders: Object.fromEntries(orders) },
          output: 'dropped',
        };
      },
    },
    setPlan: {
      effect: 'pure',
      input: text('plan'),
      does(db, input) {
        isOpen(db);
        expectThat(!hasTraps || db.plan === 'free', 'The plan is set for a year.');
        return { state: { ...db, plan: input.plan }, output: 'set' };
      },
    },
    mail: {
      effect: 'irreversible',
      input: text('to'),
      does(db, { to }) {
        isOpen(db);
        return { state: { ...db, told: to }, output: 'sent' };
      },
    },
  };
}

/**
 * Two accounts to be merged: orders are moved, the old account is dropped, the plan is set, and the customer told. With
 * traps a dropped account takes its orders with it, a plan is set for a year, and the mail can be sent too early.
 */
function merge(random: Random, hasTraps: boolean): Task<Tables> {
  const ids = ['a7', 'a8', 'a9'].slice(0, between(random, 2, 3));
  const plan = ['basic', 'pro', 'team'][random.integer(3)] ?? 'pro';
  const areMoved = ({ orders }: Tables) => ids.every((id) => orders[id] === 'new');
  const areMerged = (db: Tables) =>
    areMoved(db) && db.accounts.join() === 'new,other' && db.plan === plan;
  return {
    kind: 'merge',
    hasTraps,
    text: `Merge the account old into new, put it on the plan ${plan}, and write to new.`,
    start: {
      orders: Object.fromEntries(ids.map((id) => [id, 'old'])),
      accounts: ['new', 'old', 'other'],
      plan: 'free',
      told: '',
    },
    tools: mergeTools(hasTraps),
    calls: [
      ...ids.flatMap((order) => ['new', 'other'].map((to) => call('move', { order, to }))),
      ...['new', 'old', 'other'].map((account) => call('drop', { account })),
      ...['basic', 'pro', 'team'].map((name) => call('setPlan', { plan: name })),
      ...['new', 'other'].map((to) => call('mail', { to })),
    ],
    isDone: (db) => areMerged(db) && db.told === 'new',
    parts: (db) => [
      ...ids.map((id) => db.orders[id] === 'new'),
      !db.accounts.includes('old'),
      db.plan !== 'free',
      db.told !== '',
    ],
    refuses: (tool, db) =>
      hasTraps || tool !== 'mail' || areMerged(db) ? undefined : 'The accounts are not merged.',
  };
}
