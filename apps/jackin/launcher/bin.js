#!/usr/bin/env node
// Plain JavaScript that any Node understands: an old one must get a sentence, not a syntax error.
const MINIMUM = [22, 22];
const [major, minor] = process.versions.node.split('.').map(Number);
const tooOld =
  major < MINIMUM[0] ||
  (major === MINIMUM[0] && minor < MINIMUM[1]) ||
  major === 23 ||
  (major === 24 && minor < 15);

if (tooOld) {
  process.stderr.write(
    `jackin needs Node 22.22, 24.15 or newer and this is Node ${process.versions.node}: install one from https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else {
  await start();
}

async function start() {
  const { default: module } = await import('node:module');
  const { homedir } = await import('node:os');
  const { join } = await import('node:path');
  // Private to the user: whoever can write compiled code into a shared directory runs code as us.
  const caches = process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache');
  if (!process.env.NODE_COMPILE_CACHE) module.enableCompileCache(join(caches, 'jackin', 'compile'));
  const { run } = await import('./main.js');
  await run();
}
