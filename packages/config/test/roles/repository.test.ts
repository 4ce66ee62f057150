import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { gitSource } from '../../src/roles/git-source.ts';
import { cachedCheckout, checkoutCommit, refreshRepository } from '../../src/roles/repository.ts';
import { repositoryPlace } from '../../src/roles/repository-place.ts';
import { FROM, type Home, makeRepository, openHome, refusal } from './support.ts';

let home: Home;
let repository: ReturnType<typeof makeRepository>;

beforeEach(() => {
  home = openHome();
  repository = makeRepository(join(home.root, 'role'));
});
afterEach(() => home.dispose());

const git = () => gitSource('r', repository.url);
const refresh = (ttlSeconds = 60, branch: string | null = null) =>
  refreshRepository(git(), branch, { ...home.common, ttlSeconds });
const place = () => repositoryPlace(home.paths, git());
const text = (dir: string, path: string) => readFileSync(join(dir, path), 'utf8');

describe('a role repository', () => {
  test('is exported at the commit it is at, and nothing of git with it', async () => {
    const { commit, dir } = await refresh();
    expect(commit).toBe(repository.first);
    expect(dir).toBe(join(place().trees, commit));
    expect(readdirSync(dir).sort()).toEqual(['Dockerfile', 'jackin.role.toml']);
    expect(text(dir, 'Dockerfile')).toBe(FROM);
    expect(readdirSync(place().dir).sort()).toEqual(['state.json', 'trees']);
    expect(lstatSync(home.paths.rolesDir).mode & 0o777).toBe(0o700);
  });

  test('keeps modes and bytes whatever the umask, attributes and filters are', async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 10]);
    repository.git('config', 'filter.evil.smudge', 'touch /nowhere');
    repository.commit({
      '.gitattributes': 'sub/* text eol=crlf filter=evil export-subst\nDockerfile export-ignore\n',
      'sub/run.sh': '#!/bin/sh\n$Format:%H$\n',
      bytes,
      'same/link': 'link:../Dockerfile',
      empty: '',
    });
    const before = process.umask(0o077);
    const { dir } = await refresh().finally(() => process.umask(before));
    const mode = (path: string) => lstatSync(join(dir, path)).mode & 0o777;
    expect([mode('sub'), mode('sub/run.sh'), mode('bytes'), mode('.')]).toEqual([0o755, 0o755, 0o644, 0o755]);
    expect(readFileSync(join(dir, 'bytes'))).toEqual(bytes);
    expect(text(dir, 'sub/run.sh')).toBe('#!/bin/sh\n$Format:%H$\n');
    expect(text(dir, 'empty')).toBe('');
    expect(readlinkSync(join(dir, 'same/link'))).toBe('../Dockerfile');
    expect(existsSync(join(dir, 'Dockerfile'))).toBe(true);
  });

  test('is asked again only when its time has passed, and always with a time of 0', async () => {
    const first = await refresh();
    const second = repository.commit({ new: 'x' });
    home.clock.offsetMs = 59_000;
    expect(await refresh()).toEqual(first);
    expect(home.asked()).toBe(1);
    home.clock.offsetMs = 61_000;
    const later = await refresh();
    expect([later.commit, home.asked()]).toEqual([second, 2]);
    await refresh(0);
    await refresh(0);
    expect(home.asked()).toBe(4);
  });

  test('is asked when the last answer lies in the future', async () => {
    home.clock.offsetMs = 3_600_000;
    await refresh();
    home.clock.offsetMs = 0;
    await refresh();
    expect(home.asked()).toBe(2);
  });

  test('never changes under who uses it: an older commit stays as it was', async () => {
    const first = await refresh();
    const second = repository.commit({ Dockerfile: 'FROM debian:trixie\n', 'jackin.role.toml': null });
    const now = await refresh(0);
    expect(now.commit).toBe(second);
    expect([text(first.dir, 'Dockerfile'), existsSync(join(first.dir, 'jackin.role.toml'))]).toEqual([
      FROM,
      true,
    ]);
    expect(text(now.dir, 'Dockerfile')).toBe('FROM debian:trixie\n');
  });

  test('follows a branch, and each branch is remembered by itself', async () => {
    repository.git('checkout', '--quiet', '-b', 'feature/x');
    const branch = repository.commit({ branch: 'x' });
    repository.git('checkout', '--quiet', 'main');
    expect((await refresh(60, 'feature/x')).commit).toBe(branch);
    expect((await refresh()).commit).toBe(repository.first);
    expect((await cachedCheckout(git(), 'feature/x', home.paths))?.commit).toBe(branch);
    const error = await refusal(refresh(60, 'nowhere'));
    expect(error.code).toBe('ROLE_UNAVAILABLE');
    expect(error.message).toContain('it has no branch nowhere');
  });

  test('that was rewritten is taken as it is now', async () => {
    await refresh();
    repository.git('commit', '--quiet', '--amend', '-m', 'rewritten');
    const rewritten = repository.git('rev-parse', 'HEAD');
    expect((await refresh(0)).commit).toBe(rewritten);
  });

  test('of the newer kind of hash works too', async () => {
    repository = makeRepository(join(home.root, 'sha256'), {}, ['--object-format=sha256']);
    const { commit, dir } = await refresh();
    expect(commit).toMatch(/^[0-9a-f]{64}$/);
    expect(text(dir, 'Dockerfile')).toBe(FROM);
  });

  test('does not run what it holds, nor what the directory jackin is started in says', async () => {
    const marker = join(home.root, 'ran');
    const hostile = makeRepository(join(home.root, 'hostile'));
    for (const setting of [
      'core.sshCommand',
      'core.fsmonitor',
      'core.gitProxy',
      'uploadpack.packObjectsHook',
    ]) {
      hostile.git('config', setting, `touch ${marker}`);
      repository.git('config', setting, `touch ${marker}`);
    }
    hostile.git('config', `url.${hostile.url}.insteadOf`, repository.url);
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) {
      for (const { dir } of [hostile, repository]) {
        writeFileSync(join(dir, '.git/hooks', hook), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
      }
    }
    const cwd = process.cwd();
    process.chdir(hostile.dir);
    const env = { ...home.env, GIT_DIR: join(hostile.dir, '.git'), GIT_SSH_COMMAND: `touch ${marker}` };
    const { commit } = await refreshRepository(git(), null, { ...home.common, env, ttlSeconds: 0 }).finally(
      () => process.chdir(cwd),
    );
    expect(commit).toBe(repository.first);
    expect(existsSync(marker)).toBe(false);
  });
});

describe('a role repository that cannot be used', () => {
  const moved = () => renameSync(repository.dir, `${repository.dir}.gone`);

  test('is not there: the cached commit is used with a notice, and without one it is an error', async () => {
    const first = await refresh();
    moved();
    home.clock.offsetMs = 120_000;
    expect(await refresh()).toEqual(first);
    expect(home.notices()).toEqual(['ROLE_NOT_REFRESHED']);
    const told = home.events.find((event) => event.type === 'notice');
    expect(told).toMatchObject({ message: expect.stringContaining(first.commit.slice(0, 7)) });
    const other = await refusal(
      refreshRepository(gitSource('r', `file://${repository.dir}2`), null, {
        ...home.common,
        ttlSeconds: 60,
      }),
    );
    expect(other.code).toBe('ROLE_UNAVAILABLE');
    expect(other.message).toContain('does not');
    expect(other.hint).toContain('git ls-remote file://');
  });

  test('comes back: the next refresh has its new commit', async () => {
    await refresh();
    moved();
    await refresh(0);
    renameSync(`${repository.dir}.gone`, repository.dir);
    const second = repository.commit({ new: 'x' });
    expect((await refresh(0)).commit).toBe(second);
  });

  test('has no commit yet', async () => {
    const bare = join(home.root, 'bare');
    repository.git('init', '--quiet', '--bare', bare);
    const empty = refreshRepository(gitSource('r', bare), null, { ...home.common, ttlSeconds: 60 });
    expect((await refusal(empty)).message).toContain('it has no commit yet');
  });

  test('on a machine without git', async () => {
    const env = { HOME: home.env.HOME, PATH: join(home.root, 'user') };
    const error = await refusal(refreshRepository(git(), null, { ...home.common, env, ttlSeconds: 60 }));
    expect(error.code).toBe('GIT_MISSING');
  });

  test('stops when it is told to, and leaves nothing', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(refreshRepository(git(), null, { ...home.common, signal, ttlSeconds: 60 })).rejects.toThrow(
      'enough',
    );
    expect(existsSync(place().state)).toBe(false);
  });

  test.each([
    ['/etc/passwd', 'link'],
    ['../../../outside', 'sub/link'],
  ])('holds a link to %s: refused, also when an older commit is cached', async (target, path) => {
    const first = await refresh();
    repository.commit({ [path]: `link:${target}` });
    const error = await refusal(refresh(0));
    expect(error).toMatchObject({ code: 'ROLE_INVALID', details: { key: path } });
    expect(readdirSync(place().trees)).toEqual([first.commit]);
    expect(readdirSync(place().dir).sort()).toEqual(['state.json', 'trees']);
  });

  test('names a submodule that stays empty, and a file of Git LFS that stays a pointer', async () => {
    const sub = makeRepository(join(home.root, 'sub'));
    repository.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '--quiet', sub.url, 'libs/sub');
    repository.commit({ 'big.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' });
    const { dir } = await refresh();
    expect(readdirSync(join(dir, 'libs/sub'))).toEqual([]);
    expect(home.notices()).toEqual(['ROLE_SUBMODULE', 'ROLE_LFS']);
  });

  test('has a cache that says nothing: it is asked again', async () => {
    const first = await refresh();
    for (const broken of ['', '{', '[]', '{"version":2}', `{"version":1,"git":"other","refs":{}}`]) {
      writeFileSync(place().state, broken);
      expect(await refresh()).toEqual(first);
    }
    expect(home.asked()).toBe(6);
  });
});

describe('exactly one commit', () => {
  test('is fetched when it is not there, also when the branch has gone on', async () => {
    repository.commit({ Dockerfile: 'FROM debian:trixie\n' });
    const dir = await checkoutCommit(git(), repository.first, home.common);
    expect(text(dir, 'Dockerfile')).toBe(FROM);
    // It says nothing about what the branch is at.
    expect(await cachedCheckout(git(), null, home.paths)).toBeNull();
  });

  test('needs no repository once it is there', async () => {
    const { commit, dir } = await refresh();
    renameSync(repository.dir, `${repository.dir}.gone`);
    expect(await checkoutCommit(git(), commit, home.common)).toBe(dir);
  });

  test('is never another one', async () => {
    const error = await refusal(checkoutCommit(git(), 'b'.repeat(40), home.common));
    expect(error.code).toBe('ROLE_UNAVAILABLE');
    expect(await refusal(checkoutCommit(git(), '../../x', home.common))).toMatchObject({
      code: 'ROLE_UNAVAILABLE',
    });
    expect(readdirSync(place().trees)).toEqual([]);
  });

  test('is found in a repository that gives out no commit by its name', async () => {
    repository.commit({ new: 'x' });
    // The older protocol hands out only what a branch is at.
    writeFileSync(join(home.env.HOME, '.gitconfig'), '[protocol]\n\tversion = 0\n');
    const dir = await checkoutCommit(git(), repository.first, home.common);
    expect(existsSync(join(dir, 'new'))).toBe(false);
  });
});

test('a state directory that cannot be written is named', async () => {
  await refresh();
  if (process.getuid?.() === 0) {
    // Root may write anywhere: a file in the place of the directory is refused to it too.
    renameSync(place().trees, `${place().trees}.aside`);
    writeFileSync(place().trees, '');
  } else {
    chmodSync(place().dir, 0o500);
  }
  const error = await refusal(refresh(0));
  expect(['STATE_NOT_WRITABLE', 'STATE_DIR_NOT_PRIVATE']).toContain(error.code);
  expect(error.message).toContain(place().dir);
  if (process.getuid?.() !== 0) chmodSync(place().dir, 0o700);
});
