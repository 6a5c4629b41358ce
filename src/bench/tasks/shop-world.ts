import type { Random } from '../../contracts/context.ts';
import { between, call, expectThat, type ToolTask, text } from './tool-task.ts';

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
): ToolTask<Shop>['tools'] {
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
export function shop(kind: ShopKind) {
  return (random: Random, hasTraps: boolean): ToolTask<Shop> => {
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
