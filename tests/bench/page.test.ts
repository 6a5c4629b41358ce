import { expect, test } from 'vitest';
import { reportPage } from '../../src/bench/page/page.ts';
import { exampleReport, exampleReports } from '../support/bench-reports.ts';

const reports = Object.entries(exampleReports);
const usual = exampleReport();

test.each(reports)('the page of the report %s needs nothing from anywhere', async (_, report) => {
  const html = await reportPage(report);
  const tags = [...html.matchAll(/<([a-z]+)/gi)].map(([, name = '']) => name.toLowerCase());
  expect(new Set(tags)).not.toContain('script');
  for (const name of ['img', 'iframe', 'link', 'object', 'embed', 'base', 'a', 'image', 'use']) {
    expect(tags).not.toContain(name);
  }
  // Within tags alone: what others wrote stands between them.
  const inTags = [...html.matchAll(/<[^>]*>/g)].join('\n');
  expect(inTags.replaceAll(/"[^"]*"/g, '""')).not.toMatch(/\s(on\w+|href|src|xlink:href|srcset)=/i);
  expect(
    html.replaceAll('http://www.w3.org/2000/svg', '').replaceAll('url(#unscored)', ''),
  ).not.toMatch(/url\(|@import/);
  expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline';`);
  expect(html).not.toMatch(/NaN|undefined|Infinity/);
});

test('what others named is shown and not obeyed', async () => {
  const html = await reportPage(exampleReports['hostile'] ?? usual);
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(html).not.toContain('\u0007');
  expect(html).not.toMatch(/<script|<\/?iframe|<img|<b onclick|\u202e/);
  expect(html.match(/<style>/g)).toHaveLength(1);
});

test('the verdict in words comes before everything else', async () => {
  const html = await reportPage(exampleReports['unpriced'] ?? usual);
  const [, first = ''] = html.split('</h1>');
  expect(first.trimStart()).toMatch(
    /^<div class="verdict no"><p><strong>No, search does not pay here\.<\/strong> No method gets 3 points/,
  );
  expect(html).toContain('No price is known, so accuracy is not drawn against dollars.');
});

test('a verdict that begins with its answer does not say it twice', async () => {
  const html = await reportPage(exampleReports['free'] ?? usual);
  expect(html).toContain('<strong>Undecided.</strong> 40 problems are too few.');
  expect(html).toContain('<p>No search cost any dollars.</p>');
  expect(html).not.toContain('accuracy against dollars');
});

test('each point is drawn once with all others, and says its figures', async () => {
  const html = await reportPage(usual);
  const [, accuracy = ''] = html.split('<h2>Accuracy against budget</h2>');
  const [overview = ''] = accuracy.split('<div class="plots small">');
  const titles = [...overview.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title);
  expect(titles).toHaveLength(28);
  expect(titles).toContain('mcts, 2,000 tokens: 75.0 % [59.8, 85.8] of 200 searches');
});

test('says which lines lie on top of each other', async () => {
  const without = usual.points.filter(({ method }) => method !== 'lats');
  const twin = without.flatMap((point) =>
    point.method === 'mcts' ? [{ ...point, method: 'lats' }] : [],
  );
  const html = await reportPage({ ...usual, points: [...without, ...twin] });
  expect(html).toContain('<p>The lines of mcts and lats coincide: all their points are equal.</p>');
  expect(await reportPage(usual)).not.toContain('coincide');
});

test('a mark stands where its accuracy is', async () => {
  const html = await reportPage(usual);
  // Shares are from 10 % (the least lower end is 14.2 %) to 100 %, on heights from 300 − 44 up to 26.
  const [, place = ''] =
    /transform="translate\([\d.]+,([\d.]+)\)"[^>]*><title>mcts, 2,000 tokens: 75\.0 %/.exec(html) ??
    [];
  expect(Number(place)).toBeCloseTo(256 - (230 * (0.75 - 0.1)) / 0.9, 3);
});

test('two pages of one report are equal', async () => {
  expect(await reportPage(usual)).toBe(await reportPage(exampleReport()));
});

test('says whose intervals are drawn as bands', async () => {
  expect(await reportPage(usual)).toContain('Bands (for best-of-n only) are 95 % intervals.');
  const { differences } = usual;
  const best = differences.find(({ method }) => method === 'lats');
  const verdict = { ...usual.verdict, ...(best !== undefined && { best }) };
  expect(await reportPage({ ...usual, verdict })).toContain('Bands (for lats and best-of-n only)');
});

test('says first that it was stopped, options as code, and the command that was typed', async () => {
  const html = await reportPage(
    { ...usual, warnings: ['Set `--price-in` for `<b>`.'] },
    { command: "espalier bench --model 'a b'", stopped: 'Stopped: raise `--budget-usd`.' },
  );
  const [, first = ''] = html.split('</h1>');
  expect(first.trimStart()).toMatch(
    /^<p><strong>Stopped: raise <code>--budget-usd<\/code>\.<\/strong><\/p>\n<div class="verdict/,
  );
  expect(html).toContain('<li>Set <code>--price-in</code> for `&lt;b&gt;`.</li>');
  expect(html).toContain('<pre><code>espalier bench --model &#39;a b&#39;</code></pre>');
  await expect(reportPage(usual, { comand: '' } as object)).rejects.toThrow('`command`');
});
