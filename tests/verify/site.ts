/**
 * The site that `npm run docs` writes: every link within it leads to a page, and to an element where it names one; and in a
 * real browser, light and dark, a few pages have no message on the console and nothing serious by axe. The browser is
 * that of `verify:page`. Where it cannot be had, the links alone are looked at.
 */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, startedBrowser } from '../support/browser.ts';

const site = fileURLToPath(new URL('../../site', import.meta.url));
const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.html'),
);
const seen = ['index.html', 'documents/Budgets.html', 'functions/espalier.search.html'];

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

/** The site as a host would serve it: from files, browsers refuse a part of what a page loads. */
const server = createServer(({ url = '' }, response) => {
  const path = join(site, decodeURIComponent(new URL(url, 'http://localhost').pathname));
  if (!existsSync(path)) return void response.writeHead(404).end();
  const type = types[extname(path)] ?? 'application/octet-stream';
  response.writeHead(200, { 'content-type': type }).end(readFileSync(path));
});

/**
 * What axe finds in a page that is serious or worse. TypeDoc puts links into what opens a part of its navigation; no option
 * of it changes that.
 */
const serious = `axe.run({ exclude: ['summary[data-key]'] }).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.slice(0, 3).map(({ target }) => target.join(' ')).join(', ')))`;

async function faultsInBrowser(browser: Browser, axe: string): Promise<readonly string[]> {
  const faults: string[] = [];
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const path of seen) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
      const note = (text: string) => faults.push(`${path}, ${colorScheme}: ${text}`);
      page.on('console', (message) => note(`console: ${message.text()}`));
      page.on('pageerror', (error) => note(`error: ${error.message}`));
      page.on('request', (request) => {
        if (!request.url().startsWith(address) && !/^(?:data|blob):/.test(request.url()))
          note(`request: ${request.url()}`);
      });
      await page.emulateMedia({ colorScheme });
      await page.goto(`${address}${path}`);
      await page.evaluate(axe);
      for (const finding of await page.evaluate<readonly string[]>(serious))
        note(`axe: ${finding}`);
      await page.close();
    }
  }
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
    : `${seen.length} pages in a browser, light and dark: ${found.length} faults\n`,
);
for (const fault of [...missing, ...dead, ...found]) process.stdout.write(`${fault}\n`);
if (missing.length + dead.length + found.length > 0) process.exitCode = 1;
