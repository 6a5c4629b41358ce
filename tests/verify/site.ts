/**
 * The site that `npm run docs` writes: every link within it leads to a page, and to an element where it names one; and in a
 * real browser, light and dark, wide and narrow, the largest page of each kind has no message on the console, nothing serious
 * by axe, no broken lines of code and no need to scroll sideways; and the search finds guides by words within them. The
 * browser is that of `verify:page`. Where it cannot be had, the links alone are looked at; with
 * `ESPALIER_REQUIRE_BROWSER=1`, as in `.ci/run`, that fails.
 */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type Page, startedBrowser } from '../support/browser.ts';

const site = fileURLToPath(new URL('../../site', import.meta.url));
const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.html'),
);

/** The largest page of each folder, for one of each kind; and pages with drawings and with links in code. */
const seen = [
  ...new Map(
    pages
      .toSorted((a, b) => sizeOf(a) - sizeOf(b))
      .map((path) => [dirname(path) === '.' ? path : dirname(path), path]),
  ).values(),
  'documents/Journals_and_replay.html',
  'interfaces/espalier.SearchOptions.html',
];
/** Words within guides, and the guide that the search finds by each. */
const searches = { resume: 'Journals and replay', 'best-of-n': 'Benchmarking' };

function sizeOf(path: string): number {
  return statSync(join(site, path)).size;
}

/** The ids of a page, and where its links lead. */
function read(path: string): {
  readonly ids: ReadonlySet<string>;
  readonly links: readonly string[];
} {
  const html = readFileSync(join(site, path), 'utf8');
  const all = (pattern: RegExp) =>
    [...html.matchAll(pattern)].map(([, value = '']) => value.replaceAll('&amp;', '&'));
  return {
    ids: new Set(all(/\s(?:id|name)="([^"]*)"/g)),
    links: all(/\s(?:href|src)="([^"]*)"/g).filter((link) => !/^[a-z]+:/.test(link)),
  };
}

function deadLinks(): readonly string[] {
  const known = new Map(pages.map((path) => [path, read(path)]));
  return pages.flatMap((path) =>
    (known.get(path)?.links ?? []).flatMap((link) => {
      const [file = '', anchor = ''] = link.split('#').map(decodeURIComponent);
      const target = file === '' ? path : normalize(join(dirname(path), file));
      const ids = known.get(target)?.ids;
      const isThere = anchor === '' || ids === undefined || ids.has(anchor);
      return existsSync(join(site, target)) && isThere ? [] : [`${path}: ${link}`];
    }),
  );
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};

/** Colours and widths of windows. In a narrow one the colours are those of a wide one. */
const views = [
  ['light', 1_280],
  ['dark', 1_280],
  ['light', 400],
] as const;

/** The site as a host would serve it: from files, browsers refuse a part of what a page loads. */
const server = createServer(({ url = '' }, response) => {
  const path = join(site, decodeURIComponent(new URL(url, 'http://localhost').pathname));
  if (!existsSync(path)) return void response.writeHead(404).end();
  const type = types[extname(path)] ?? 'application/octet-stream';
  response.writeHead(200, { 'content-type': type }).end(readFileSync(path));
});

/** What axe finds in a page that is serious or worse. Colours, which take the longest, do not depend on the width. */
const serious = (hasColours: boolean) => `axe.run({
  rules: { region: { enabled: false }, 'color-contrast': { enabled: ${hasColours} } },
  resultTypes: ['violations'],
}).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, help, nodes }) => 'axe: ' + id + ': ' + help + ': ' + nodes.slice(0, 3).map(({ target }) => target.join(' ')).join(', ')))`;

/** Lines of code that are broken, and a page wider than its window. */
const layout = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => [
  ...[...document.querySelectorAll('pre, pre > code')]
    .filter((each) => getComputedStyle(each).whiteSpace !== 'pre')
    .map((each) => 'lines are broken: ' + each.textContent.slice(0, 60)),
  ...[document.documentElement]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ scrollWidth, clientWidth }) => scrollWidth + ' pixels in a window of ' + clientWidth),
])`;

/** What a page has to say for itself, in the light and in the dark, in a wide and in a narrow window. */
async function faultsOfPage(page: Page, axe: string): Promise<readonly string[]> {
  const faults: string[] = [];
  await page.evaluate(axe);
  for (const [colorScheme, width] of views) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const found = await Promise.all(
      [layout, serious(width > 400)].map((script) => page.evaluate<readonly string[]>(script)),
    );
    faults.push(...found.flat().map((fault) => `${colorScheme}, ${width} pixels: ${fault}`));
  }
  return faults;
}

/** Words of guides that the search does not find them by. */
async function faultsOfSearch(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  await page.click('#tsd-search-trigger');
  for (const [word, guide] of Object.entries(searches)) {
    await page.evaluate(`document.getElementById('tsd-search-results').replaceChildren()`);
    await page.fill('#tsd-search-input', word);
    const isFound = `(async () => {
      for (const end = Date.now() + 10_000; Date.now() < end; await new Promise((done) => setTimeout(done, 100)))
        if (document.getElementById('tsd-search-results').textContent.includes(${JSON.stringify(guide)})) return true;
      return false;
    })()`;
    if (!(await page.evaluate<boolean>(isFound)))
      faults.push(`the search for ${word} does not find ${guide}`);
  }
  return faults;
}

async function faultsInBrowser(browser: Browser, axe: string): Promise<readonly string[]> {
  const faults: string[] = [];
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const look = async (path: string) => {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
    const note = (text: string) => faults.push(`${path}: ${text}`);
    page.on('console', (message) => note(`console: ${message.text()}`));
    page.on('pageerror', (error) => note(`error: ${error.message}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(address) && !/^(?:data|blob):/.test(request.url()))
        note(`request: ${request.url()}`);
    });
    await page.goto(`${address}${path}`);
    for (const fault of await faultsOfPage(page, axe)) note(fault);
    if (path === 'index.html') for (const fault of await faultsOfSearch(page)) note(fault);
    await page.close();
  };
  const rest = seen.values();
  const some = async () => {
    for (const path of rest) await look(path);
  };
  await Promise.all([some(), some()]);
  server.close();
  return faults;
}

const missing = seen.filter((path) => !pages.includes(path)).map((path) => `no page ${path}`);
const dead = deadLinks();
process.stdout.write(
  `${pages.length} pages in ${relative('.', site)}: ${dead.length} dead links\n`,
);
const started = missing.length === 0 ? await startedBrowser() : undefined;
const found = started === undefined ? [] : await faultsInBrowser(started.browser, started.axe);
await started?.browser.close();
process.stdout.write(
  started === undefined
    ? 'No browser: there is no chromium, or the registry cannot be reached.\n'
    : `${seen.length} pages in a browser, light and dark, wide and narrow: ${found.length} faults\n`,
);
for (const fault of [...missing, ...dead, ...found]) process.stdout.write(`${fault}\n`);
// biome-ignore lint/style/noProcessEnv: a setting of the one who runs this
const isRequired = process.env['ESPALIER_REQUIRE_BROWSER'] === '1';
if (missing.length + dead.length + found.length > 0 || (started === undefined && isRequired))
  process.exitCode = 1;
