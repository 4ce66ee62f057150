import { readdirSync } from 'node:fs';
import preset from './jest.preset.js';

const workspaces = ['packages', 'apps'].flatMap((group) =>
  readdirSync(new URL(group, import.meta.url)).map((name) => ({ name, dir: `${group}/${name}` })),
);

/** Several real commands for every single write: `npm run test:long`. */
const LONG = ['e2e/faults-disk'];
/** Disasters, builds and repetitions on a real engine: `npm run test:engine`, which CI runs too. */
const ENGINE = [
  'test/engine/.*\\.test\\.ts$',
  'test/docker/(creating|disasters|looking|removing|starting|transport)\\.test\\.ts$',
  'test/docker/images/(agent-smith|builds|images)\\.test\\.ts$',
  'test/(docker-lab(-suite)?|tour-engine)\\.test\\.ts$',
];

const { JACKIN_ENGINE_TESTS: engine, JACKIN_LONG_TESTS: long } = process.env;
const { testMatch, ...common } = preset;
const selection =
  engine === '1'
    ? { testRegex: ENGINE }
    : { testMatch, testPathIgnorePatterns: long === '1' ? [] : [...LONG, ...ENGINE] };

export default {
  projects: [...workspaces, { name: 'tools', dir: 'tools' }].map(({ name, dir }) => ({
    ...common,
    ...selection,
    displayName: name,
    rootDir: dir,
  })),
  testTimeout: 30_000,
  testSequencer: './tools/test/sequencer.js',
  // Many tests wait for processes rather than compute.
  maxWorkers: 3,
  // Starting a process takes the longer the larger the one is that starts it, and workers grow with every suite.
  workerIdleMemoryLimit: '128MB',
};
