import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { EngineAddress } from './engine.ts';
import { knownEngineSockets } from './known-sockets.ts';

/** A place where an engine may be, or why one that was named cannot be used. */
export type Candidate =
  | { source: string; endpoint: string; address: EngineAddress }
  | { source: string; endpoint: string; rejected: string };

export interface Discovery {
  /** Somebody named this one: no other engine takes its place. */
  explicit: boolean;
  /** In order of preference. */
  candidates: Candidate[];
  /** What could not be read on the way, for `doctor`. */
  problems: string[];
}

/** The bytes of a file; null when there is none; throws when it cannot be read. */
export type ReadFile = (path: string) => Promise<Buffer | null>;

const contextSchema = z.object({
  Endpoints: z.object({
    docker: z.object({ Host: z.string().min(1), SkipTLSVerify: z.boolean().nullish() }),
  }),
});
const configSchema = z.object({ currentContext: z.string().nullish() });

/**
 * Where the engine is (docs/architecture.md#backends): `DOCKER_HOST`, else the docker context (`DOCKER_CONTEXT`, then
 * the configured one), else the known sockets in order. Never throws: what is wrong is a rejected candidate.
 */
export async function discover(env: NodeJS.ProcessEnv, read: ReadFile): Promise<Discovery> {
  const home = env.HOME || homedir();
  const configDir = env.DOCKER_CONFIG || join(home, '.docker');
  if (env.DOCKER_HOST) {
    const candidate = await candidateOf('DOCKER_HOST', env.DOCKER_HOST, () => tlsOfEnv(env, configDir, read));
    return { explicit: true, candidates: [candidate], problems: [] };
  }
  const { name, source, problems } = await contextName(env, configDir, read);
  if (name !== null && name !== 'default') {
    const candidate = await contextCandidate(name, source, configDir, read);
    return { explicit: true, candidates: [candidate], problems };
  }
  return { explicit: false, candidates: knownSockets(env, home), problems };
}

function knownSockets(env: NodeJS.ProcessEnv, home: string): Candidate[] {
  return knownEngineSockets(env, home).map(({ source, path }) => ({
    source,
    endpoint: `unix://${path}`,
    address: { kind: 'unix', path },
  }));
}

async function contextName(
  env: NodeJS.ProcessEnv,
  configDir: string,
  read: ReadFile,
): Promise<{ name: string | null; source: string; problems: string[] }> {
  if (env.DOCKER_CONTEXT) return { name: env.DOCKER_CONTEXT, source: 'DOCKER_CONTEXT', problems: [] };
  const file = join(configDir, 'config.json');
  const source = `context of ${file}`;
  try {
    const bytes = await read(file);
    if (bytes === null) return { name: null, source, problems: [] };
    const { currentContext } = configSchema.parse(JSON.parse(bytes.toString('utf8')));
    return { name: currentContext || null, source, problems: [] };
  } catch (error) {
    return { name: null, source, problems: [`${file} was not used: ${reasonOf(error)}`] };
  }
}

async function contextCandidate(
  name: string,
  source: string,
  configDir: string,
  read: ReadFile,
): Promise<Candidate> {
  const directory = createHash('sha256').update(name).digest('hex');
  const file = join(configDir, 'contexts/meta', directory, 'meta.json');
  const from = `context "${name}" (${source})`;
  const rejected = (reason: string): Candidate => ({
    source: from,
    endpoint: `context ${name}`,
    rejected: reason,
  });
  try {
    const bytes = await read(file);
    if (bytes === null) return rejected(`there is no such docker context: ${file} does not exist`);
    const { docker } = contextSchema.parse(JSON.parse(bytes.toString('utf8'))).Endpoints;
    const tlsDir = join(configDir, 'contexts/tls', directory, 'docker');
    return await candidateOf(from, docker.Host, async () => {
      const found = await certificates(tlsDir, read);
      const none = found.ca === null && found.cert === null && found.key === null;
      return none && !docker.SkipTLSVerify ? null : { ...found, verify: docker.SkipTLSVerify !== true };
    });
  } catch (error) {
    return rejected(`${file} cannot be used: ${reasonOf(error)}`);
  }
}

type Tls = Extract<EngineAddress, { kind: 'tcp' }>['tls'];

async function tlsOfEnv(env: NodeJS.ProcessEnv, configDir: string, read: ReadFile): Promise<Tls> {
  // As the docker command reads it: any text switches verification on.
  const verify = Boolean(env.DOCKER_TLS_VERIFY);
  if (!verify && !env.DOCKER_TLS) return null;
  return { ...(await certificates(env.DOCKER_CERT_PATH || configDir, read)), verify };
}

async function certificates(
  dir: string,
  read: ReadFile,
): Promise<{ ca: Buffer | null; cert: Buffer | null; key: Buffer | null }> {
  const [ca, cert, key] = await Promise.all(
    ['ca.pem', 'cert.pem', 'key.pem'].map((name) => read(join(dir, name))),
  );
  return { ca: ca ?? null, cert: cert ?? null, key: key ?? null };
}

async function candidateOf(source: string, host: string, tls: () => Promise<Tls>): Promise<Candidate> {
  const rejected = (reason: string): Candidate => ({ source, endpoint: host, rejected: reason });
  if (host.startsWith('unix://')) {
    const path = host.slice('unix://'.length);
    if (!path.startsWith('/'))
      return rejected('a socket needs an absolute path, as in unix:///var/run/docker.sock');
    return { source, endpoint: host, address: { kind: 'unix', path } };
  }
  if (host.startsWith('ssh://')) {
    return rejected('engines over ssh are not supported; forward the socket with ssh -L and name that');
  }
  if (host.startsWith('npipe://')) return rejected('named pipes are not supported');
  const url = parseTcp(host);
  if (url === null) return rejected('it is neither unix:///PATH nor tcp://HOST:PORT');
  try {
    return { source, endpoint: `tcp://${url.text}`, address: { kind: 'tcp', ...url.at, tls: await tls() } };
  } catch (error) {
    return rejected(`its certificates cannot be read: ${reasonOf(error)}`);
  }
}

function parseTcp(host: string): { text: string; at: { host: string; port: number } } | null {
  const match = /^(?:tcp|http|https):\/\/(\[[0-9a-fA-F:]+\]|[^\s/:[\]@]+)(?::(\d{1,5}))?\/?$/.exec(host);
  if (match === null) return null;
  const port = match[2] === undefined ? 2375 : Number(match[2]);
  const name = match[1] as string;
  if (port < 1 || port > 65_535) return null;
  return { text: `${name}:${port}`, at: { host: name.replace(/^\[|\]$/g, ''), port } };
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  if (error instanceof z.ZodError) return 'it does not have the fields it should have';
  return error instanceof Error ? error.message : String(error);
}
