import { describe, it, jest } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { describeBackendConformance } from '../../src/conformance/index.ts';
import { makeDockerHarness } from './support/docker-harness.ts';

jest.setTimeout(120_000);

await describeOnEngine('harmless', 'on an engine', (engine) => {
  describeBackendConformance('docker', () => makeDockerHarness(engine()), { describe, it });
});
