import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectEqual, expectThat, TourFailure } from './check.ts';
import { chooseGround } from './choose-ground.ts';
import { createJackin, type Jackin } from './command.ts';
import type { Ground, Loss, Return } from './ground.ts';
import { standaloneGround } from './ground-standalone.ts';
import { chapter, held, say } from './say.ts';
import type { Scratch } from './scratch.ts';
import { openTerminal } from './terminal.ts';
import { tourWorktree } from './worktree.ts';

const NOTE = 'written in the session';
const MEMORY = 'remembered in its home';
/** What keeps an engine that answers from running a session of the shipped role; all of it can be mended outside. */
const CANNOT_START = ['IMAGE_BASE_UNAVAILABLE', 'IMAGE_BUILD_FAILED', 'MOUNT_SOURCE_MISSING'];

export interface StoryOptions {
  scratch: Scratch;
  cli: string;
  cliName: string;
  signal: AbortSignal;
  /** Standalone in any case, and why. */
  standaloneBecause?: string;
}

/** The engine is there and cannot start a session; the message says why. */
export class NoSessionOnDocker extends Error {}

interface Session extends StoryOptions {
  jackin: Jackin;
  ground: Ground;
  id: string;
  base: string;
}

interface StatusRow {
  instance_id: string;
  status: string;
  cause: string | null;
  evidence: string[];
}

/**
 * The main job from a first load to the last clean-up; returns what stays on purpose. Throws TourFailure at the first
 * check that does not hold, NoSessionOnDocker before anything was checked.
 */
export async function runStory(options: StoryOptions): Promise<string[]> {
  const jackin = createJackin(options);
  const { scratch, standaloneBecause: because } = options;
  say(`jackin   node ${options.cliName}`);
  say(`scratch  ${scratch.root}: a home, jackin's state and a git repository, removed at the end`);
  const ground =
    because === undefined ? await chooseGround(jackin, scratch) : standaloneGround(scratch, because);
  say(`backend  ${ground.backend} (${ground.because})`);
  for (const line of ground.isolation) say(`         ${line}`);

  const session = await start({ ...options, jackin, ground, id: '', base: '' });
  const { image_tag: image } = scratch.manifest(session.base);
  await work(session);
  for (const loss of ground.losses) {
    await lose(session, loss);
    await comeBack(session, loss.comeBack, loss.back);
  }
  await keep(session);
  await comeBack(session, 'Get it back again', ground.afterKeep);
  await cleanUp(session);
  await tourWorktree(session);
  return ground.backend === 'docker' ? [`the image of the role (${image}), for the next session of it`] : [];
}

async function start(session: Session): Promise<Session> {
  chapter('Start an agent session');
  const { scratch, jackin, ground } = session;
  const args = ['--agent', 'shell', '--new', '--detach', '--backend', ground.backend];
  const answer = await jackin.tryJson<{
    instance_id: string;
    container_base: string;
    status: string;
    tier: number | null;
  }>(['load', 'shell', scratch.project, ...args], ground.loadLimitMs);
  if ('error' in answer) {
    const { code, message } = answer.error;
    if (ground.backend === 'docker' && CANNOT_START.includes(code))
      throw new NoSessionOnDocker(`${code}: ${message}`);
    throw new TourFailure(`"jackin load" failed with ${code}: ${message}`);
  }
  const { instance_id: id, container_base: base, ...loaded } = answer.data;
  expectThat(
    /^[0-9a-z]{8}$/.test(id),
    `the instance id should have 8 characters and is ${JSON.stringify(id)}`,
  );
  expectThat(base.startsWith(`jk-${id}-`), `the name ${base} should begin with jk-${id}-`);
  expectEqual('tier of a new session', loaded.tier, null);
  expectEqual('status in the manifest', scratch.manifest(base).status, loaded.status);
  expectThat(await ground.runs(base), 'the session should run on and does not');
  held('the command is gone, the session runs');
  return { ...session, id, base };
}

async function work(session: Session): Promise<void> {
  chapter('Work in it: type in the session, detach with Ctrl-B d');
  const { ground, base } = session;
  await atTheTerminal(session, [
    [`echo ${NOTE} > notes.txt; echo ${MEMORY} > ~/memory.txt; cat notes.txt`, NOTE],
    ...ground.typed,
    ['sleep 600 & echo started=$((1+0))', 'started=1'],
  ]);
  await expectWork(session);
  expectThat(await ground.runs(base), 'the session should run on after the detach');
  held('notes.txt is in the project, memory.txt in the home of the session, and the session runs on');
}

async function lose(session: Session, loss: Loss): Promise<void> {
  chapter(loss.title);
  await loss.happen(session.base);
  held('nothing of the session is alive');
  chapter('What happened?');
  await session.jackin.show(['status']);
  const row = await ownRow(session);
  expectEqual('status', row?.status, loss.status);
  expectEqual('cause', row?.cause, loss.cause);
  expectThat((row?.evidence.length ?? 0) > 0, 'the status should come with evidence and has none');
  held('status --json says the same, with evidence');
}

async function comeBack(session: Session, title: string, back: Return): Promise<void> {
  chapter(title);
  const { ground } = session;
  const resumed = await session.jackin.showJson<{
    instance_id: string;
    tier: number;
    did_not_return: string[];
  }>(['resume', session.id, '--detach']);
  expectEqual('resumed instance', resumed.instance_id, session.id);
  expectEqual('tier', resumed.tier, back.tier);
  expectEqual('what did not return', resumed.did_not_return, back.didNotReturn);
  await expectWork(session);
  await atTheTerminal(session, [
    ['cat notes.txt', NOTE],
    ['cat ~/memory.txt', MEMORY],
    ...ground.layer(back),
  ]);
  expectEqual('status', (await ownRow(session))?.status, 'running');
  const lost = back.didNotReturn.includes('writable_layer');
  held(
    lost
      ? 'the same instance, its project and its home are back; its own layer is not, as was said'
      : 'the same instance, its project and its home are back',
  );
}

async function keep(session: Session): Promise<void> {
  chapter('Stop for today and keep it');
  const { ground, base, id } = session;
  const { stdout } = await session.jackin.show(['stop', id, '--keep']);
  expectThat(stdout.includes(`jackin resume ${id}`), `the way back (jackin resume ${id}) should be named`);
  expectEqual('status', (await ownRow(session))?.status, 'restore_available');
  expectEqual('what the backend has of it', await ground.remains(base), ground.keeps(base));
  await expectWork(session);
  held(ground.kept);
}

async function cleanUp(session: Session): Promise<void> {
  chapter('Finish: stop and clean up');
  const { scratch, ground, id, base } = session;
  await session.jackin.show(['stop', id, '--clean']);
  const left = ['data', 'sockets'].flatMap((dir) =>
    existsSync(join(scratch.state, dir))
      ? readdirSync(join(scratch.state, dir)).filter((name) => name.includes(id))
      : [],
  );
  expectEqual(`what is left of ${base}`, [...left, ...(await ground.remains(base))], []);
  expectEqual('row in the status', await ownRow(session), undefined);
  expectEqual('notes.txt in the project', readProject(session, 'notes.txt'), `${NOTE}\n`);
  held('nothing of the instance is left; the project, which is yours, keeps notes.txt');
}

async function atTheTerminal(session: Session, lines: [line: string, answer: string][]): Promise<void> {
  const args = ['hardline', session.id];
  say(`$ jackin ${args.join(' ')}`);
  const terminal = await openTerminal({ ...session, args });
  for (const [line, answer] of lines) await terminal.type(line, answer);
  for (const line of terminal.screen()) say(`  | ${line}`);
  expectEqual('exit code after the detach', await terminal.detach(), 0);
}

async function expectWork(session: Session): Promise<void> {
  const memory = join(session.scratch.state, 'data', session.base, 'home', 'memory.txt');
  expectEqual('notes.txt in the project', readProject(session, 'notes.txt'), `${NOTE}\n`);
  expectEqual('memory.txt in the home of the session', readIfThere(memory), `${MEMORY}\n`);
}

async function ownRow(session: Session): Promise<StatusRow | undefined> {
  const { instances } = await session.jackin.ask<{ instances: StatusRow[] }>(['status']);
  return instances.find(({ instance_id }) => instance_id === session.id);
}

function readProject(session: Session, name: string): string | null {
  return readIfThere(join(session.scratch.project, name));
}

function readIfThere(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
