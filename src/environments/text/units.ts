/** Common spellings of each unit. The first one is canonical. */
const spellings: readonly (readonly string[])[] = [
  ['dollar', '$', 'dollars', 'usd', '美元'],
  ['euro', '€', 'euros', 'eur', '欧元'],
  ['pound', '£', 'gbp'],
  ['yen', '¥', 'jpy', '日元'],
  ['yuan', '元', 'rmb', 'cny', '人民币'],
  ['rupee', '₹', 'rupees', 'inr'],
  ['cent', '¢', 'cents'],
  ['degree', '°', 'degrees', 'deg'],
  ['celsius', '°c'],
  ['fahrenheit', '°f'],
  ['meter', 'm', 'meters', 'metre', 'metres'],
  ['kilometer', 'km', 'kilometers', 'kilometre', 'kilometres'],
  ['centimeter', 'cm', 'centimeters', 'centimetre', 'centimetres'],
  ['millimeter', 'mm', 'millimeters', 'millimetre', 'millimetres'],
  ['mile', 'mi', 'miles'],
  ['foot', 'ft', 'feet'],
  ['inch', 'in', 'inches'],
  ['yard', 'yd', 'yards'],
  ['gram', 'g', 'grams'],
  ['kilogram', 'kg', 'kilograms'],
  ['milligram', 'mg', 'milligrams'],
  ['ounce', 'oz', 'ounces'],
  ['lb', 'lbs'],
  ['liter', 'l', 'liters', 'litre', 'litres'],
  ['milliliter', 'ml', 'milliliters', 'millilitre', 'millilitres'],
  ['second', 's', 'sec', 'secs', 'seconds'],
  ['minute', 'min', 'mins', 'minutes'],
  ['hour', 'h', 'hr', 'hrs', 'hours'],
  ['mph'],
  ['kph'],
  ['am'],
  ['pm'],
];

const names = new Map(spellings.flatMap((all) => all.map((spelling) => [spelling, all[0]])));

const multipliers: Readonly<Record<string, number>> = {
  hundred: 2,
  thousand: 3,
  million: 6,
  billion: 9,
  trillion: 12,
  万: 4,
  亿: 8,
};

/** Chinese writes units without spaces; these characters would change the number. */
const chineseUnit = /^(?!.*[多余几半以上下之间至到或和的分倍百千万亿成])\p{Script=Han}{1,6}$/u;

/** Words after a number that change it or make it a formula, and so are not units. */
const notUnits = new Set(
  (
    'above and as below between by choose cos cubed divided dozen eighth eighths factorial fewer fifth ' +
    'fifths fourth fourths half halves if is less log minus mod more ninth ninths not of or out over pi ' +
    'plus power quarter quarters root seventh sevenths sin sixth sixths sqrt squared tan tenth tenths ' +
    'than the third thirds times to under'
  ).split(' '),
);

/**
 * Reads the suffix of a number if it is clearly a unit: at most four words after a space, or a common abbreviation. A
 * single letter directly after a number is a variable.
 *
 * @returns the power of 10 by which the number is multiplied, as by `million`, and the unit in its canonical spelling;
 * empty if there is none.
 */
export function readSuffix(
  text: string,
): { readonly exponent: number; readonly unit: string } | undefined {
  const words = text
    .trim()
    .replace(/^[万亿](?=\p{Script=Han})/u, '$& ')
    .split(/\s*\/\s*|\s+/);
  if (words[0] === '') return { exponent: 0, unit: '' };
  const exponent = multipliers[words[0]?.toLowerCase() ?? ''];
  if (exponent !== undefined) words.shift();
  const isApart = /^[\s万亿]/.test(text);
  if (words.length > 4 || (exponent !== undefined && !isApart)) return undefined;
  const unit = words.map((word, place) =>
    place > 0 && /^an?$/.test(word) ? 'per' : unitName(word, isApart),
  );
  if (unit.includes(undefined)) return undefined;
  return { exponent: exponent ?? 0, unit: unit.filter((word) => word !== 'per').join(' ') };
}

function unitName(word: string, isApart: boolean): string | undefined {
  const [, base = '', power = ''] = /^(.*?)([²³]?)$/s.exec(word.toLowerCase()) ?? [];
  const known = names.get(base);
  if (known !== undefined) {
    const isLetter = /^[a-z]$/.test(base);
    if (isLetter && (!isApart || (power !== '' && base !== 'm'))) return undefined;
    return known + power;
  }
  if (chineseUnit.test(base)) return base;
  if (!isApart || !/^\p{L}{2,}$/u.test(base) || notUnits.has(base)) return undefined;
  return base.replace(/(?<=\p{L}{3})s$/u, '') + power;
}
