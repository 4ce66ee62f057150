import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveTarget } from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import { type Scratch, scratch } from './helpers.ts';

const WORKSPACES = (root: string) => ({
  'workspaces/proj.toml': `workdir = "/workspace/proj/sub"
mounts = [{ src = "${root}/proj", dst = "/workspace/proj", isolation = "worktree" },
          { src = "~/notes", dst = "/workspace/notes", readonly = true }]`,
  'workspaces/inner.toml': `workdir = "/in"\nmounts = [{ src = "${root}/proj/sub/inner", dst = "/in" }]`,
  'workspaces/above.toml': `workdir = "/all"\nmounts = [{ src = "${root}/a", dst = "/all/a" }, { src = "${root}/b", dst = "/all/b" }]`,
  'workspaces/gone.toml': `workdir = "/w"\nmounts = [{ src = "${root}/gone", dst = "/w" }]`,
  'workspaces/wrong.toml': `workdir = "/w"\nmounts = [{ src = "${root}/a", dst = "/elsewhere" }]`,
});

async function world(): Promise<
  Scratch & { at(path: string): (target: string | null) => ReturnType<typeof resolveTarget> }
> {
  const first = await scratch({}, [
    'proj/sub/inner/deep/',
    'home/notes/',
    'a/',
    'b/',
    'cwd/proj/',
    'cwd/file',
    'cwd/x:y/',
  ]);
  const files = WORKSPACES(first.root);
  const { mkdir, writeFile } = await import('node:fs/promises');
  await mkdir(join(first.configDir, 'workspaces'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(first.configDir, name), text);
  await symlink(join(first.root, 'proj/sub'), join(first.root, 'cwd/link'));
  const loaded = await first.load();
  return {
    ...first,
    at: (path) => (target) =>
      resolveTarget({ target, cwd: join(first.root, path), loaded, home: join(first.root, 'home') }),
  };
}

describe('a named workspace', () => {
  test('has its mounts with canonical sources, and its workdir on both sides', async () => {
    await using w = await world();
    expect(await w.at('cwd')('proj')).toMatchObject({
      workspaceName: 'proj',
      label: 'proj',
      workdir: '/workspace/proj/sub',
      hostDir: join(w.root, 'proj/sub'),
      mounts: [
        { src: join(w.root, 'proj'), dst: '/workspace/proj', isolation: 'worktree', readonly: false },
        { src: join(w.root, 'home/notes'), dst: '/workspace/notes', isolation: 'shared', readonly: true },
      ],
      workspace: { workdir: '/workspace/proj/sub' },
    });
  });

  test('wins over a directory of its name, which a path still reaches', async () => {
    await using w = await world();
    expect((await w.at('cwd')('proj')).workspaceName).toBe('proj');
    expect(await w.at('cwd')('./proj')).toMatchObject({
      workspaceName: null,
      hostDir: join(w.root, 'cwd/proj'),
    });
  });

  test('with a workdir above its mounts stands for the first of them', async () => {
    await using w = await world();
    expect(await w.at('cwd')('above')).toMatchObject({ workdir: '/all', hostDir: join(w.root, 'a') });
  });

  test('whose source is gone or whose mounts contradict each other is refused by name', async () => {
    await using w = await world();
    await expect(w.at('cwd')('gone')).rejects.toMatchObject({
      code: 'MOUNT_SOURCE_MISSING',
      details: { workspace: 'gone', src: join(w.root, 'gone') },
    });
    await expect(w.at('cwd')('wrong')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('workspaces/wrong.toml:'),
    });
  });
});

describe('a directory', () => {
  const adHoc = (root: string, path: string, dst?: string, readonly = false) => {
    const hostDir = join(root, path);
    const workdir = dst ?? hostDir;
    const mounts = [{ src: hostDir, dst: workdir, isolation: 'shared', readonly }];
    return { workspaceName: null, label: hostDir, workdir, hostDir, mounts, workspace: null };
  };
  test.each<[string, string, string | undefined, boolean]>([
    ['.', 'cwd', undefined, false],
    ['../a', 'a', undefined, false],
    ['../a:/work', 'a', '/work', false],
    ['../a:/work:ro', 'a', '/work', true],
    ['../a:ro', 'a', undefined, true],
    ['~/notes', 'home/notes', undefined, false],
    ['~/notes:/n', 'home/notes', '/n', false],
    ['link', 'proj/sub', undefined, false],
    ['x:y', 'cwd/x:y', undefined, false],
  ])('%s', async (target, path, dst, readonly) => {
    await using w = await world();
    expect(await w.at('cwd')(target)).toEqual(adHoc(w.root, path, dst, readonly));
  });

  test('that is named is itself, even inside a workspace', async () => {
    await using w = await world();
    expect(await w.at('proj/sub')('.')).toEqual(adHoc(w.root, 'proj/sub'));
  });

  test.each([
    ['nowhere', 'TARGET_NOT_FOUND'],
    ['file', 'TARGET_NOT_A_DIRECTORY'],
    ['file/below', 'TARGET_NOT_FOUND'],
    ['nowhere:/w', 'TARGET_NOT_FOUND'],
    ['../a:rel', 'MOUNT_INVALID'],
    ['', 'cwd'],
  ])('%j: %s', async (target, code) => {
    await using w = await world();
    const answer = w.at('cwd')(target);
    if (code === 'cwd') expect((await answer).hostDir).toBe(join(w.root, 'cwd'));
    else
      await expect(answer).rejects.toMatchObject({
        code,
        message: expect.stringContaining(target.split(':')[0] as string),
      });
  });

  test('that does not exist comes with the workspaces one could have meant', async () => {
    await using w = await world();
    await expect(w.at('cwd')('prj')).rejects.toMatchObject({ hint: expect.stringContaining('proj') });
  });
});

describe('the current directory', () => {
  test.each([
    ['proj', 'proj'],
    ['proj/sub', 'proj'],
    ['proj/sub/inner', 'inner'],
    ['proj/sub/inner/deep', 'inner'],
    ['home/notes', 'proj'],
    ['cwd/link', 'proj'],
    ['cwd', null],
    ['', null],
  ])('%j belongs to %s', async (path, workspace) => {
    await using w = await world();
    expect((await w.at(path)(null)).workspaceName).toBe(workspace);
  });

  test('of two workspaces is a question, not a guess', async () => {
    await using w = await world();
    await expect(w.at('a')(null)).rejects.toMatchObject({
      code: 'TARGET_AMBIGUOUS',
      exitCode: 3,
      details: { workspaces: ['above', 'wrong'] },
    });
  });
});
