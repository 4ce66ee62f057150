/** Shared by every package: ESM TypeScript through swc, packages resolved to their sources. */
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@jackin/source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // A packed command line has the name of its sources.
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  transform: {
    '\\.[cm]?tsx?$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript', tsx: false }, target: 'es2024' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
};
