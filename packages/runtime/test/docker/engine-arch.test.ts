import { describe, expect, it } from '@jest/globals';
import { archOf } from '../../src/docker/engine-arch.ts';

describe('the architecture of an engine, in the words of Node', () => {
  it.each([
    ['x86_64', 'x64'],
    ['amd64', 'x64'],
    ['aarch64', 'arm64'],
    ['arm64', 'arm64'],
    ['riscv64', 'riscv64'],
  ])('%s is %s', (said, arch) => {
    expect(archOf(said, 'other')).toBe(arch);
  });

  it.each([null, undefined, ''])('is that of this machine when it says %j', (said) => {
    expect(archOf(said, 'arm64')).toBe('arm64');
  });
});
