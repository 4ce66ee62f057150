import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BIN, openPlace, type Place } from './support.ts';

let place: Place;
beforeEach(() => {
  place = openPlace();
});
afterEach(() => place.dispose());

describe('in a directory that was removed', () => {
  const gone = (...args: string[]) => {
    const dir = join(place.root, 'gone');
    mkdirSync(dir);
    const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
    return spawnSync('sh', ['-c', script, 'sh', dir, process.execPath, BIN, ...args], {
      encoding: 'utf8',
      env: place.env,
    });
  };

  test.each([
    ['status', ['status', '--json'], 0],
    ['doctor', ['doctor', '--json'], 1],
    ['an instance that is not there', ['stop', 'zzzzzzzz', '--json'], 1],
  ])('%s does what it always does', (_title, args, code) => {
    const run = gone(...args);
    expect(JSON.parse(run.stdout)).toHaveProperty('schema_version', 'v1');
    expect(run.status).toBe(code);
  });

  test('a load names the directory', () => {
    const run = gone('load', 'shell', '--detach', '--backend', 'standalone', '--json');
    expect(JSON.parse(run.stdout).error).toMatchObject({
      code: 'TARGET_NOT_FOUND',
      message: expect.stringContaining(join(place.root, 'gone')),
    });
    expect(run.stderr).not.toMatch(/^ {4}at /m);
  });
});

describe('where a link leads to something that is not mounted', () => {
  test.each([
    ['the state directory', 'JACKIN_HOME_DIR'],
    ['the configuration directory', 'JACKIN_CONFIG_DIR'],
  ])('%s is not taken for an empty one', async (_title, variable) => {
    const link = join(place.root, 'link');
    symlinkSync(join(place.root, 'not-mounted'), link);
    const env = { [variable]: link };
    const args = ['load', 'shell', '.', '--detach', '--new', '--backend', 'standalone', '--json'];
    const load = await place.run(args, { env });
    expect([load.code, JSON.parse(load.stdout).error?.code]).toEqual([1, 'LINK_TARGET_MISSING']);
    const doctor = await place.run(['doctor', '--json'], { env });
    expect(doctor.stdout).toContain(`${link} is a link to`);
  });

  test('a status does not say that there are no instances', async () => {
    const link = join(place.root, 'link');
    symlinkSync(join(place.root, 'not-mounted'), link);
    const run = await place.run(['status', '--json'], { env: { JACKIN_HOME_DIR: link } });
    expect([run.code, JSON.parse(run.stdout).error?.code]).toEqual([1, 'LINK_TARGET_MISSING']);
  });

  test('a configuration that said keep does not become one that says nothing', async () => {
    symlinkSync(
      join(place.root, 'not-mounted.toml'),
      join(place.env.JACKIN_CONFIG_DIR as string, 'config.toml'),
    );
    const run = await place.run(['load', 'shell', '.', '--detach', '--backend', 'standalone', '--json']);
    expect([run.code, JSON.parse(run.stdout).error?.code]).toEqual([1, 'LINK_TARGET_MISSING']);
  });
});

test('the commands of a refusal repeat what was typed', async () => {
  const load = ['load', 'shell', '.', '--detach', '--backend', 'standalone', '--json'];
  const first = await place.run([...load, '--new', '--', 'sh', '-c', 'exit 0']);
  const { instance_id: id } = JSON.parse(first.stdout).data;
  const mount = `${place.project}:/x`;
  const refused = await place.run([...load, '--mount', mount, '--memory', '100m', '--', 'npm', 'run', 'a b']);
  expect(refused.code).toBe(3);
  const [resume, startNew] = JSON.parse(refused.stdout).error.details.commands;
  expect(resume).toBe(`jackin load shell . --agent shell --backend standalone --detach --instance ${id}`);
  expect(startNew).toBe(
    `jackin load shell . --agent shell --backend standalone --detach --mount ${mount} --memory 104857600 --new -- npm run 'a b'`,
  );
  expect((await place.run(['purge', id, '--yes', '--json'])).code).toBe(0);
});
