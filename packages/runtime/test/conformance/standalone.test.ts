import { describe, it } from '@jest/globals';
import { describeBackendConformance } from '../../src/conformance/index.ts';
import { makeStandaloneHarness } from './standalone-harness.ts';

describeBackendConformance('standalone', makeStandaloneHarness, { describe, it });
