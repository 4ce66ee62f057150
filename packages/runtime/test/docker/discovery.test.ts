import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { discover } from '../../src/docker/discovery.ts';

const HOME = '/home/op';
const sha = (name: string) => createHash('sha256').update(name).digest('hex');
const metaFile = (name: string, dir = `${HOME}/.docker`) => `${dir}/contexts/meta/${sha(name)}/meta.json`;
const meta = (host: string, more: object = {}) =>
  JSON.stringify({ Name: 'x', Endpoints: { docker: { Host: host, ...more } } });

/** Files by their path; an Error is what reading it throws. */
function look(env: NodeJS.ProcessEnv, files: Record<string, string | Error> = {}) {
  return discover({ HOME, ...env }, async (path) => {
    const found = files[path];
    if (found instanceof Error) throw found;
    return found === undefined ? null : Buffer.from(found);
  });
}

/** Endpoint, or endpoint and why not. */
async function told(env: NodeJS.ProcessEnv, files: Record<string, string | Error> = {}) {
  const { explicit, candidates, problems } = await look(env, files);
  return {
    explicit,
    endpoints: candidates.map((one) =>
      'rejected' in one ? `${one.endpoint}: ${one.rejected}` : one.endpoint,
    ),
    problems,
  };
}

const KNOWN = [
  'unix:///var/run/docker.sock',
  'unix:///run/user/7/docker.sock',
  `unix://${HOME}/.docker/run/docker.sock`,
  `unix://${HOME}/.orbstack/run/docker.sock`,
  `unix://${HOME}/.colima/default/docker.sock`,
  `unix://${HOME}/.rd/docker.sock`,
  'unix:///run/user/7/podman/podman.sock',
  'unix:///run/podman/podman.sock',
];

describe('where the engine is looked for', () => {
  it('is the list of known sockets, in order, when nobody named one', async () => {
    expect(await told({ XDG_RUNTIME_DIR: '/run/user/7' })).toEqual({
      explicit: false,
      endpoints: KNOWN,
      problems: [],
    });
  });

  it('has no sockets of a login session without one', async () => {
    const { endpoints } = await told({});
    expect(endpoints).toEqual(KNOWN.filter((one) => !one.includes('/run/user/')));
  });

  it.each([
    ['unix:///x/y.sock', 'unix:///x/y.sock'],
    ['tcp://10.0.0.1:2375', 'tcp://10.0.0.1:2375'],
    ['tcp://[::1]:2375', 'tcp://[::1]:2375'],
    ['tcp://engine', 'tcp://engine:2375'],
    ['http://localhost:9/', 'tcp://localhost:9'],
  ])('is DOCKER_HOST %s alone', async (host, endpoint) => {
    const files = {
      [`${HOME}/.docker/config.json`]: '{"currentContext":"other"}',
      [metaFile('other')]: meta('unix:///other.sock'),
    };
    expect(await told({ DOCKER_HOST: host, DOCKER_CONTEXT: 'other' }, files)).toEqual({
      explicit: true,
      endpoints: [endpoint],
      problems: [],
    });
  });

  it.each([
    ['ssh://me@host', /ssh are not supported/],
    ['npipe:////./pipe/docker_engine', /named pipes/],
    ['unix://relative.sock', /absolute path/],
    ['nonsense', /neither unix/],
    ['tcp://host:99999', /neither unix/],
    ['tcp://', /neither unix/],
  ])('names why DOCKER_HOST %s cannot be used, and takes no other one', async (host, reason) => {
    const { explicit, endpoints } = await told({ DOCKER_HOST: host });
    expect(explicit).toBe(true);
    expect(endpoints).toHaveLength(1);
    expect(endpoints[0]).toMatch(reason);
  });

  it('is the context of DOCKER_CONTEXT before the configured one', async () => {
    const files = {
      [`${HOME}/.docker/config.json`]: '{"currentContext":"configured"}',
      [metaFile('configured')]: meta('unix:///configured.sock'),
      [metaFile('named')]: meta('unix:///named.sock'),
    };
    expect((await told({ DOCKER_CONTEXT: 'named' }, files)).endpoints).toEqual(['unix:///named.sock']);
    expect((await told({}, files)).endpoints).toEqual(['unix:///configured.sock']);
  });

  it('reads the configuration where DOCKER_CONFIG says', async () => {
    const files = {
      '/cfg/config.json': '{"currentContext":"c"}',
      [metaFile('c', '/cfg')]: meta('unix:///c.sock'),
    };
    expect((await told({ DOCKER_CONFIG: '/cfg' }, files)).endpoints).toEqual(['unix:///c.sock']);
  });

  it.each([['{"currentContext":"default"}'], ['{"currentContext":""}'], ['{}']])(
    'is the list of known sockets for the configuration %s',
    async (config) => {
      const found = await told({}, { [`${HOME}/.docker/config.json`]: config });
      expect(found.explicit).toBe(false);
      expect(found.endpoints).toContain('unix:///var/run/docker.sock');
    },
  );

  it.each([
    ['not JSON', 'it is not JSON'],
    ['{"currentContext":7}', 'it does not have the fields it should have'],
  ])('tells that the configuration %s was not used', async (config, reason) => {
    const found = await told({}, { [`${HOME}/.docker/config.json`]: config });
    expect(found.problems).toEqual([`${HOME}/.docker/config.json was not used: ${reason}`]);
    expect(found.endpoints.length).toBeGreaterThan(1);
  });

  it.each([
    ['a missing one', {}, /there is no such docker context/],
    ['one that is not JSON', { [metaFile('c')]: '{' }, /cannot be used: it is not JSON/],
    ['one without an endpoint', { [metaFile('c')]: '{"Endpoints":{}}' }, /fields it should have/],
    ['one that cannot be read', { [metaFile('c')]: new Error('no right') }, /cannot be used: no right/],
  ])('names why the context cannot be used, and takes no other one: %s', async (_, files, reason) => {
    const { explicit, endpoints } = await told({ DOCKER_CONTEXT: 'c' }, files);
    expect(explicit).toBe(true);
    expect(endpoints).toHaveLength(1);
    expect(endpoints[0]).toMatch(reason);
  });

  it('takes certificates from the context, and with DOCKER_TLS_VERIFY from DOCKER_CERT_PATH', async () => {
    const dir = `${HOME}/.docker/contexts/tls/${sha('c')}/docker`;
    const context = await look(
      { DOCKER_CONTEXT: 'c' },
      { [metaFile('c')]: meta('tcp://h:2376'), [`${dir}/ca.pem`]: 'ca', [`${dir}/key.pem`]: 'key' },
    );
    const none = { ca: null, cert: null, key: null };
    expect(context.candidates[0]).toMatchObject({
      address: {
        host: 'h',
        port: 2376,
        tls: { ...none, ca: Buffer.from('ca'), key: Buffer.from('key'), verify: true },
      },
    });
    const host = { DOCKER_HOST: 'tcp://h:2376', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/certs' };
    expect((await look(host, { '/certs/ca.pem': 'ca' })).candidates[0]).toMatchObject({
      address: { tls: { ...none, ca: Buffer.from('ca'), verify: true } },
    });
    expect((await look({ DOCKER_HOST: 'tcp://h:2375' })).candidates[0]).toMatchObject({
      address: { tls: null },
    });
  });

  it('rejects an endpoint whose certificates cannot be read', async () => {
    const env = { DOCKER_HOST: 'tcp://h:2376', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/certs' };
    const { endpoints } = await told(env, { '/certs/cert.pem': new Error('no right') });
    expect(endpoints).toEqual(['tcp://h:2376: its certificates cannot be read: no right']);
  });
});
