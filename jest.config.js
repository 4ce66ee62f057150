import { readdirSync } from 'node:fs';
import preset from './jest.preset.js';

const workspaces = ['packages', 'apps'].flatMap((group) =>
  readdirSync(new URL(group, import.meta.url)).map((name) => ({ name, dir: `${group}/${name}` })),
);

/** Several real commands for every single write: `npm run test:long`. */
const LONG = ['e2e/faults-disk'];
/** Disasters, builds and repetitions on a real engine: `npm run test:engine`, which CI runs too. */
const ENGINE = ['test/engine/', 'docker/disasters', 'docker/images/agent-smith'];

function leftOut({ JACKIN_LONG_TESTS: long, JACKIN_ENGINE_TESTS: engine }) {
  if (long === '1') return [];
  return engine === '1' ? LONG : [...LONG, ...ENGINE];
}

export default {
  projects: [...workspaces, { name: 'tools', dir: 'tools' }].map(({ name, dir }) => ({
    ...preset,
    displayName: name,
    rootDir: dir,
    testPathIgnorePatterns: leftOut(process.env),
  })),
  testTimeout: 30_000,
  // Many tests wait for processes rather than compute.
  maxWorkers: 3,
};
