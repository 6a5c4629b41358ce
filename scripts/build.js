// Builds dist/ where it is missing or older than what it is built from. Prints nothing but errors. `npm run build` runs it; scripts/espalier.js runs it before the command line.
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
// Not in dist/, which is published as it is.
const stamp = join(root, '.tmp/build.stamp');
const lock = join(root, '.tmp/build.lock');

const settings = [
  ...['package.json', 'scripts/bundle.js', 'tsconfig.json', 'tsconfig.build.json'],
  'models/tiny.gguf',
];

/** Builds if needed. Resolves to what was wrong; `undefined` where all is well. */
export async function build() {
  if (isFresh()) return undefined;
  mkdirSync(join(root, '.tmp'), { recursive: true });
  while (!takeLock()) {
    await sleep(50);
    if (isFresh()) return undefined;
  }
  try {
    return isFresh() ? undefined : await compile();
  } finally {
    rmSync(lock, { force: true });
  }
}

async function compile() {
  if (!existsSync(join(root, 'node_modules/rolldown'))) {
    return 'The tools of the build are missing: run `npm install` first.\n';
  }
  const { bundle } = await import('./bundle.js');
  // What changes from here on is newer than the build.
  const started = new Date();
  rmSync(stamp, { force: true });
  // Beside dist/: source maps name their sources from where they lie.
  const fresh = join(root, 'dist.next');
  rmSync(fresh, { recursive: true, force: true });
  try {
    await bundle(root, fresh);
  } catch (error) {
    return `${error.message}\n`;
  }
  // Others may be running what was built before.
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
  closeSync(openSync(stamp, 'w'));
  utimesSync(stamp, started, started);
  return undefined;
}

function isFresh() {
  if (!existsSync(stamp) || !existsSync(join(dist, 'cli/main.js'))) return false;
  const built = modified(stamp);
  return [...settings.map((name) => join(root, name)), ...walk(join(root, 'src'))].every(
    (path) => modified(path) <= built,
  );
}

/** All files and folders: a folder changes when something is taken out of it. */
function* walk(folder) {
  yield folder;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else yield path;
  }
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** One builder at a time. The lock of a process that died is taken away. */
function takeLock() {
  const own = `${lock}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    // A link appears with its content or not at all.
    linkSync(own, lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    takeAwayDead(own);
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

function takeAwayDead(aside) {
  const holder = read(lock);
  if (holder === undefined || isAlive(Number(holder))) return;
  try {
    // Moving it is atomic. What was moved may be the new lock of a faster rival, who gets it back.
    renameSync(lock, aside);
    if (read(aside) !== holder) linkSync(aside, lock);
  } catch {
    // The rival was faster still.
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const errors = await build();
  if (errors !== undefined) {
    process.stderr.write(errors);
    process.exitCode = 1;
  }
}
