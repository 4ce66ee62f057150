import { recipeSchema } from '@jackin/instance';
import { describe, expect, it } from '@jest/globals';
import { describeRebuild } from '../../src/decide/describe-rebuild.ts';

const bare = {
  version: 1,
  backend: 'docker',
  image_tag: 'jk_shell:0123456789ab',
  role: { source: '/roles/mine' },
  mounts: [],
  env: [],
  run: {},
  agent: { id: 'shell', argv: ['bash'] },
  workdir: '/w',
};

describe('what a rebuild would need', () => {
  it('is all there when it was recorded', () => {
    const recipe = recipeSchema.parse({
      ...bare,
      role: { source: '/roles/mine', content_hash: 'c0', dockerfile: 'Dockerfile' },
      base: { ref: 'debian:12', image_id: 'sha256:1' },
      build: { args: { A: '1' } },
      run: { user: '1000:1000' },
    });
    expect(describeRebuild(recipe)).toEqual({
      lines: [
        'the role /roles/mine: content c0',
        'its Dockerfile: Dockerfile',
        'the base image debian:12: id sha256:1',
        'the build arguments: A=1',
        'the user: 1000:1000',
      ],
      missing: [],
    });
  });

  it('prefers the commit of the role and the digest of a base, and names every base', () => {
    const recipe = recipeSchema.parse({
      ...bare,
      role: { source: 'git', commit: 'abc', content_hash: 'c0', dockerfile: 'D' },
      base: { ref: 'b:1' },
      build: {
        args: {},
        bases: [
          { ref: 'a:1', digest: 'sha256:2', image_id: 'sha256:1' },
          { ref: 'b:1', digest: null, image_id: 'sha256:3' },
        ],
      },
    });
    expect(describeRebuild(recipe).lines).toEqual([
      'the role git: commit abc',
      'its Dockerfile: D',
      'the base image a:1: digest sha256:2',
      'the base image b:1: id sha256:3',
      'the build arguments: none',
      'the user: not recorded',
    ]);
  });

  it('says what is missing', () => {
    expect(describeRebuild(recipeSchema.parse(bare)).missing).toEqual([
      'the role /roles/mine',
      'its Dockerfile',
      'the base image',
      'the build arguments',
      'the user',
    ]);
    expect(describeRebuild(recipeSchema.parse({ ...bare, base: { ref: 'a:1' } })).missing).toContain(
      'the base image a:1',
    );
  });
});
