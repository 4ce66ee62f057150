import { readdirSync } from 'node:fs';
import preset from './jest.preset.js';

const workspaces = ['packages', 'apps'].flatMap((group) =>
  readdirSync(new URL(group, import.meta.url)).map((name) => ({ name, dir: `${group}/${name}` })),
);

export default {
  projects: [...workspaces, { name: 'tools', dir: 'tools' }].map(({ name, dir }) => ({
    ...preset,
    displayName: name,
    rootDir: dir,
    // Several real commands for every single write: `npm run test:long`.
    testPathIgnorePatterns: process.env.JACKIN_LONG_TESTS === '1' ? [] : ['e2e/faults-disk'],
  })),
  testTimeout: 30_000,
  maxWorkers: 2,
};
