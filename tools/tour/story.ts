import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseBackend, type TourFinding } from './backend.ts';
import { expectEqual, expectThat } from './check.ts';
import { createJackin, type Jackin } from './command.ts';
import { allGone, kill } from './processes.ts';
import type { Scratch } from './scratch.ts';
import { openTerminal } from './terminal.ts';

const NOTE = 'written in the session';
const MEMORY = 'remembered in its home';

export interface StoryOptions {
  scratch: Scratch;
  cli: string;
  cliName: string;
  signal: AbortSignal;
}

interface Session extends StoryOptions {
  jackin: Jackin;
  id: string;
  base: string;
}

interface StatusRow {
  instance_id: string;
  status: string;
  cause: string | null;
  evidence: string[];
  container: string;
}

/** The main job from a first load to the last clean-up. Throws TourFailure at the first check that does not hold. */
export async function runStory(options: StoryOptions): Promise<void> {
  const jackin = createJackin(options);
  const { scratch } = options;
  say(`jackin   node ${options.cliName}`);
  say(`scratch  ${scratch.root}: a home, jackin's state and a git repository, removed at the end`);

  const { findings } = await jackin.ask<{ findings: TourFinding[] }>(['doctor'], [0, 1]);
  const { backend, because } = chooseBackend(findings);
  say(`backend  ${backend} (${because})`);
  if (backend === 'standalone') say('         it isolates files, not the machine');

  const session = await start({ ...options, jackin, id: '', base: '' }, backend);
  await work(session);
  await lose(session);
  await askStatus(session);
  await comeBack(session, 'Get it back', ['live_processes']);
  await keep(session);
  await comeBack(session, 'Get it back again', []);
  await cleanUp(session);
}

async function start(session: Session, backend: string): Promise<Session> {
  chapter('Start an agent session');
  const { scratch, jackin } = session;
  const options = ['--agent', 'shell', '--new', '--detach', '--backend', backend];
  const loaded = await jackin.showJson<{
    instance_id: string;
    container_base: string;
    status: string;
    tier: number | null;
  }>(['load', 'shell', scratch.project, ...options]);
  const { instance_id: id, container_base: base } = loaded;
  expectThat(
    /^[0-9a-z]{8}$/.test(id),
    `the instance id should have 8 characters and is ${JSON.stringify(id)}`,
  );
  expectThat(base.startsWith(`jk-${id}-`), `the name ${base} should begin with jk-${id}-`);
  expectEqual('tier of a new session', loaded.tier, null);
  expectEqual('status in the manifest', scratch.manifest(base).status, loaded.status);
  expectThat((await scratch.processesOf(id)).length > 0, 'the session should run on and has no process');
  held('the command is gone, the session runs');
  return { ...session, id, base };
}

async function work(session: Session): Promise<void> {
  chapter('Work in it: type in the session, detach with Ctrl-B d');
  const { scratch, id } = session;
  await atTheTerminal(session, [
    [`echo ${NOTE} > notes.txt; echo ${MEMORY} > ~/memory.txt; cat notes.txt`, NOTE],
    ['sleep 600 & echo started=$((1+0))', 'started=1'],
  ]);
  await expectWork(session);
  expectThat((await scratch.processesOf(id)).length > 1, 'the session should run on after the detach');
  held('notes.txt is in the project, memory.txt in the home of the session, and the session runs on');
}

async function lose(session: Session): Promise<void> {
  chapter('Lose it: the supervisor and everything under it is killed');
  const { scratch, id } = session;
  const processes = await scratch.processesOf(id);
  const supervisor = scratch.manifest(session.base).backend?.standalone?.pid;
  expectThat(
    processes.some(({ pid }) => pid === supervisor),
    `the supervisor ${supervisor} of the manifest should be among the processes ${processes.map(({ pid }) => pid)}`,
  );
  say(`$ kill -9 ${processes.map(({ pid }) => pid).join(' ')}`);
  for (const identity of processes) kill(identity);
  expectThat(await allGone(processes, performance.now() + 10_000), 'the killed processes should be gone');
  held('no process of the session is alive');
}

async function askStatus(session: Session): Promise<void> {
  chapter('What happened?');
  await session.jackin.show(['status']);
  const row = await ownRow(session);
  expectEqual('status', row?.status, 'crashed');
  expectEqual('cause', row?.cause, 'capsule_crash');
  expectThat((row?.evidence.length ?? 0) > 0, 'the status should come with evidence and has none');
  held('status --json says the same, with evidence');
}

async function comeBack(session: Session, title: string, lost: string[]): Promise<void> {
  chapter(title);
  const resumed = await session.jackin.showJson<{
    instance_id: string;
    tier: number;
    did_not_return: string[];
  }>(['resume', session.id, '--detach']);
  expectEqual('resumed instance', resumed.instance_id, session.id);
  expectEqual('tier', resumed.tier, 1);
  expectEqual('what did not return', resumed.did_not_return, lost);
  await expectWork(session);
  await atTheTerminal(session, [
    ['cat notes.txt', NOTE],
    ['cat ~/memory.txt', MEMORY],
  ]);
  expectEqual('status', (await ownRow(session))?.status, 'running');
  held('the same instance, its project and its home are back');
}

async function keep(session: Session): Promise<void> {
  chapter('Stop for today and keep it');
  const { scratch, id } = session;
  const ended = await session.jackin.showJson<{ outcome: string; next_commands: string[] }>([
    ...['stop', id, '--keep'],
  ]);
  expectEqual('outcome', ended.outcome, 'kept');
  expectThat(
    ended.next_commands.some((command) => command.includes(`resume ${id}`)),
    `the way back (jackin resume ${id}) should be named`,
  );
  expectEqual('processes', (await scratch.processesOf(id)).length, 0);
  await expectWork(session);
  held('nothing runs, everything is kept');
}

async function cleanUp(session: Session): Promise<void> {
  chapter('Finish: stop and clean up');
  const { scratch, id, base } = session;
  const ended = await session.jackin.showJson<{ outcome: string; status: string | null }>([
    ...['stop', id, '--clean'],
  ]);
  expectEqual('outcome', ended.outcome, 'cleaned');
  expectEqual('processes', (await scratch.processesOf(id)).length, 0);
  const left = ['data', 'sockets'].flatMap((dir) =>
    existsSync(join(scratch.state, dir))
      ? readdirSync(join(scratch.state, dir)).filter((name) => name.includes(id))
      : [],
  );
  expectEqual(`what is left of ${base}`, left, []);
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

function chapter(title: string): void {
  process.stdout.write(`\n== ${title}\n`);
}

function held(sentence: string): void {
  process.stdout.write(`  ok: ${sentence}\n`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
