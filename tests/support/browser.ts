// A real browser for pages of ours: Debian's `chromium`, and what drives it, from the registry, in a folder of its own.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../.tmp/page');

/** What is used of playwright-core, whose types are not installed here. */
export interface Page {
  on(event: 'console', hear: (message: { text(): string }) => void): void;
  on(event: 'pageerror', hear: (error: Error) => void): void;
  on(event: 'request', hear: (request: { url(): string }) => void): void;
  goto(url: string): Promise<unknown>;
  emulateMedia(media: {
    colorScheme?: 'dark' | 'light';
    media?: 'print' | 'screen';
  }): Promise<void>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  click(selector: string): Promise<void>;
  fill(selector: string, text: string): Promise<void>;
  evaluate<Result>(script: string | (() => Result)): Promise<Result>;
  screenshot(options: { path: string; fullPage: boolean }): Promise<unknown>;
  pdf(options: { path: string; format: string }): Promise<unknown>;
  close(): Promise<void>;
}
export interface Browser {
  newPage(options: { viewport: { width: number; height: number } }): Promise<Page>;
  version(): string;
  close(): Promise<void>;
}
interface Playwright {
  readonly chromium: { launch(options: object): Promise<Browser> };
}

/** The browser's path; `undefined` where there is none and none can be installed. */
function installedChromium(): string | undefined {
  const find = () => spawnSync('which', ['chromium'], { encoding: 'utf8' }).stdout.trim();
  if (find() === '') {
    spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit' });
    spawnSync('apt-get', ['install', '-y', '-qq', 'chromium'], { stdio: 'inherit' });
  }
  return find() || undefined;
}

/** Whether a package, as in `name@version`, is in the folder. */
function isInstalled(spec: string): boolean {
  const [name = '', version] = spec.split('@');
  const manifest = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(manifest)) return false;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version === version;
}

/** What drives the browser, installed on first use. `undefined` where it cannot be. */
function installedTools(): { readonly playwright: Playwright; readonly axe: string } | undefined {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const require = createRequire(join(folder, 'package.json'));
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--ignore-scripts'];
  const packages = ['playwright-core@1.65.1', 'axe-core@4.14.1'];
  try {
    if (!packages.every(isInstalled))
      execFileSync('npm', ['install', ...quiet, ...packages], { cwd: folder });
  } catch {
    return undefined;
  }
  const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  return { playwright: require('playwright-core') as Playwright, axe };
}

/** The browser, and axe-core as text; `undefined` where either cannot be had. */
export async function startedBrowser(): Promise<
  { readonly browser: Browser; readonly axe: string } | undefined
> {
  const executablePath = installedChromium();
  const tools = executablePath === undefined ? undefined : installedTools();
  if (tools === undefined) return undefined;
  const browser = await tools.playwright.chromium.launch({
    executablePath,
    args: ['--no-sandbox'],
  });
  return { browser, axe: tools.axe };
}
