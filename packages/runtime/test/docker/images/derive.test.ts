import { spawnSync } from 'node:child_process';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deriveDockerfile, labelInstruction } from '../../../src/docker/images/derive.ts';
import { parseDockerfile } from '../../../src/docker/images/dockerfile.ts';
import { scratch } from './support.ts';

let dir: string;
let dispose: () => Promise<void>;

beforeEach(async () => {
  ({ dir, dispose } = await scratch());
  await mkdir(join(dir, 'etc'));
});
afterEach(() => dispose());

const ROOT = 'root:x:0:0:root:/root:/bin/sh\n';
/** Those who run the tests can only give files to themselves. */
const me = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

/** Runs the step that is added to every image, on files below a directory instead of below the root. */
function runStep(user: { uid: number; gid: number }, shell = 'sh') {
  const step = parseDockerfile(deriveDockerfile('FROM a\n', user)).instructions.find(
    ({ name }) => name === 'RUN',
  );
  const [, , script = ''] = JSON.parse(step?.text ?? '') as string[];
  const owner = `${user.uid}:${user.gid}`;
  const here = script
    .replaceAll('/etc/', `${dir}/etc/`)
    .replaceAll(' /jackin', ` ${dir}/jackin`)
    .replaceAll('mkdir -p "$home"', `mkdir -p "${dir}$home"`)
    .replaceAll(
      'chown "$user:$group" "$home"',
      `echo chown "$user:$group" ; chown ${me.uid}:${me.gid} "${dir}$home"`,
    )
    .replaceAll('chmod 755', 'cd / && chmod 755')
    .replaceAll('jackin "$home"', `jackin "${dir}$home"`);
  const { status, stdout, stderr } = spawnSync(`/bin/${shell}`, ['-c', here], {
    encoding: 'utf8',
    env: { PATH: '/nowhere' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: `chown ${owner}\n`, stderr: '' });
}
const passwd = () => readFile(join(dir, 'etc/passwd'), 'utf8');
const group = () => readFile(join(dir, 'etc/group'), 'utf8');
const write = (name: 'passwd' | 'group', text: string) => writeFile(join(dir, 'etc', name), text);

describe.each(['sh', 'bash'])('the step added to every image, in %s', (shell) => {
  const bash = '/bin/bash';

  it('adds a user and a group that are not there', async () => {
    await write('passwd', ROOT);
    await write('group', 'root:x:0:\n');
    runStep({ uid: 4242, gid: 4343 }, shell);
    expect(await passwd()).toBe(`${ROOT}agent:*:4242:4343::/home/agent:${bash}\n`);
    expect(await group()).toBe('root:x:0:\nagent:*:4343:\n');
  });

  it('keeps the name of a user who is there, and gives it the home', async () => {
    const other = 'other:x:1001:1001::/home/other:/bin/sh\n';
    await write(
      'passwd',
      `${ROOT}node:x:1000:1000:a: b:/home/node:/bin/sh\n${other}`.replace('a: b', 'a\\b'),
    );
    await write('group', 'node:x:1000:\n');
    runStep({ uid: 1000, gid: 1000 }, shell);
    expect(await passwd()).toBe(`${ROOT}node:x:1000:1000:a\\b:/home/agent:/bin/sh\n${other}`);
    expect(await group()).toBe('node:x:1000:\n');
  });

  it('gives root that home too', async () => {
    await write('passwd', ROOT);
    await write('group', 'root:x:0:\n');
    runStep({ uid: 0, gid: 0 }, shell);
    expect(await passwd()).toBe('root:x:0:0:root:/home/agent:/bin/sh\n');
  });

  it.each(['/usr/sbin/nologin', '/bin/false', '', '/bin/not-there'])(
    'replaces the shell %j, which is none',
    async (none) => {
      await write('passwd', `www:x:33:33::/var/www:${none}\n`);
      runStep({ uid: 33, gid: 33 }, shell);
      expect(await passwd()).toBe(`www:x:33:33::/home/agent:${bash}\n`);
    },
  );

  it('does not take a number elsewhere in a line for the user', async () => {
    await write('passwd', `a:x:7:4242:4242:/4242:/bin/sh\n4242:x:8:8::/:/bin/sh\n`);
    await write('group', '4242:x:8:4242\n');
    runStep({ uid: 4242, gid: 4242 }, shell);
    expect(await passwd()).toMatch(
      /^a:x:7:4242:4242:\/4242:\/bin\/sh\n4242:x:8:8::\/:\/bin\/sh\nagent:\*:4242:/,
    );
    expect(await group()).toBe('4242:x:8:4242\nagent:*:4242:\n');
  });

  it('takes another name where somebody else is called agent', async () => {
    await write('passwd', 'agent:x:1000:1000::/home/agent:/bin/sh\nagent4242:x:1001:1001::/:/bin/sh\n');
    await write('group', 'agent:x:1000:\n');
    runStep({ uid: 4242, gid: 4242 }, shell);
    expect(await passwd()).toContain('\nagent42424242:*:4242:4242:');
    expect(await group()).toBe('agent:x:1000:\nagent4242:*:4242:\n');
  });

  it('reads a last line without an end, and copes with files that are not there', async () => {
    await write('passwd', ROOT.trimEnd());
    runStep({ uid: 5, gid: 5 }, shell);
    expect(await passwd()).toBe(`${ROOT}agent:*:5:5::/home/agent:${bash}\n`);
    expect(await group()).toBe('agent:*:5:\n');
    await rm(join(dir, 'etc/passwd'));
    runStep({ uid: 5, gid: 5 }, shell);
    expect(await passwd()).toBe(`agent:*:5:5::/home/agent:${bash}\n`);
  });

  it('makes the directories, and nothing different when it runs again', async () => {
    runStep({ uid: 5, gid: 5 }, shell);
    const before = [await passwd(), await group()];
    runStep({ uid: 5, gid: 5 }, shell);
    expect([await passwd(), await group()]).toEqual(before);
    for (const made of ['home/agent', 'jackin', 'jackin/run', 'jackin/state', 'jackin/runtime']) {
      expect((await stat(join(dir, made))).mode & 0o777).toBe(0o755);
    }
  });
});

describe('the Dockerfile that is built', () => {
  const trailer = (text: string) =>
    parseDockerfile(deriveDockerfile(text, { uid: 7, gid: 8 })).instructions.map(({ name, text: rest }) =>
      name === 'RUN' ? 'RUN' : `${name} ${rest}`,
    );

  it("begins with the role's own, to the byte", () => {
    const role = '# escape=`\nFROM a AS b\nFROM c\nRUN x\n';
    expect(deriveDockerfile(role, { uid: 7, gid: 8 }).startsWith(role)).toBe(true);
  });

  it('ends with the user and without a command, whatever the last line of the role is', () => {
    for (const role of ['FROM a', 'FROM a\n', 'FROM a\nUSER b\n# end', 'FROM a\nSHELL ["/bin/x"]\r\n']) {
      expect(trailer(role).slice(-7)).toEqual([
        'USER 0:0',
        'RUN',
        'ENV HOME=/home/agent',
        'USER 7:8',
        'STOPSIGNAL SIGTERM',
        'ENTRYPOINT []',
        'CMD []',
      ]);
    }
  });

  it('takes labels that need no quoting, and no others', () => {
    expect(labelInstruction({ a: 'x/y.z', b: 'd|sha256:0,e||f' })).toBe(
      'LABEL a="x/y.z" b="d|sha256:0,e||f"\n',
    );
    for (const value of ['$HOME', 'a"b', 'a\nb', 'a b', 'a\\b']) {
      expect(() => labelInstruction({ a: value })).toThrow(RangeError);
    }
  });
});
