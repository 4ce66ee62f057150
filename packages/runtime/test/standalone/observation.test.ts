import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { observationOf, type StatOf } from '../../src/standalone/observation.ts';
import { manifestOf } from '../decide/fixtures.ts';

describe('what a session needs to be started again', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'jk-mounts-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const startable = async (sources: string[], statOf: StatOf = stat) => {
    const manifest = manifestOf('standalone');
    const mounts = sources.map((src) => ({ src, dst: src, isolation: 'shared' as const, readonly: false }));
    if (manifest.recipe) manifest.recipe.mounts = mounts;
    const { instance_id, container_base } = manifest;
    const seen = await observationOf(
      { instance_id, container_base, manifest },
      { state: 'gone', leftovers: [] },
      statOf,
    );
    return seen.container.state === 'stopped' ? seen.container.startable : null;
  };

  it('may be a file as well as a directory', async () => {
    const file = join(root, 'gitconfig');
    await writeFile(file, '');
    expect(await startable([root, file])).toEqual({ ok: true });
  });

  it('is missed by name', async () => {
    const gone = join(root, 'gone');
    expect(await startable([root, gone])).toEqual({
      ok: false,
      anew: true,
      reason: `${gone} cannot be used: it is gone`,
    });
  });

  it('is not waited for when its file system hangs, nor asked again meanwhile', async () => {
    let asked = 0;
    let answer = (): void => {};
    const hanging = () => {
      asked += 1;
      return new Promise<void>((resolve) => {
        answer = resolve;
      });
    };
    const src = join(root, 'hung');
    const hung = { ok: false, reason: `${src} does not answer`, anew: true };
    expect(await Promise.all([startable([src], hanging), startable([src], hanging)])).toEqual([hung, hung]);
    expect(asked).toBe(1);
    answer();
  });
});
