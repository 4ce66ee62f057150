import { chownSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { eventually } from '../../e2e/support/sandbox.ts';
import type { EngineSandbox, Instance } from './engine-sandbox.ts';

/**
 * What takes the capsule's place: `impostor` answers without the key of the instance, `shouter` with a message of 1 GB.
 * The others read the key, which their user may, and prove themselves: `boaster` answers a request with a message of
 * 1 GB, `chatterer` with 1 GB of messages nobody asked for.
 */
export type Mode = 'impostor' | 'shouter' | 'boaster' | 'chatterer';

/** Runs inside, as the instance's user, with what is there: the capsule's own Node. */
const PROGRAM = `
import { createHmac } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
const [mode, instanceId] = process.argv.slice(2);
const socket = '/jackin/run/capsule.sock';
const GIB = 1024 ** 3, MIB = 1024 ** 2;
const frame = (kind, payload) => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(payload.length + 1);
  head[4] = kind;
  return Buffer.concat([head, payload]);
};
const say = (message) => frame(0, Buffer.from(JSON.stringify(message)));
const key = () => /capsule_key = "(\\w+)"/.exec(readFileSync('/jackin/run/agent.toml', 'utf8'))[1];
function welcome(nonce) {
  const proof = mode === 'impostor' ? 'f'.repeat(64) : createHmac('sha256', key()).update(nonce).digest('hex');
  return say({ type: 'welcome', protocol: 1, instance_id: instanceId, proof, boot_id: 'x', version: '0', pid: 1 });
}
function pour(connection, chunk) {
  let sent = 0;
  const more = () => {
    while (sent < GIB && !connection.destroyed) {
      sent += chunk.length;
      if (!connection.write(chunk)) return connection.once('drain', more);
    }
  };
  more();
}
const huge = Buffer.alloc(5);
huge.writeUInt32BE(GIB);
createServer((connection) => {
  connection.on('error', () => {});
  let text = '';
  connection.on('data', (bytes) => {
    appendFileSync('/home/agent/received', bytes);
    text += bytes.toString('latin1');
    const nonce = /"nonce":"(\\w+)"/.exec(text)?.[1];
    if (text.includes('"hello"') && nonce) {
      text = '';
      if (mode === 'shouter') {
        connection.write(huge);
        return pour(connection, Buffer.alloc(MIB, 32));
      }
      connection.write(welcome(nonce));
    } else if (text.includes('"request_id"')) {
      text = '';
      if (mode === 'boaster') {
        connection.write(huge);
        pour(connection, Buffer.alloc(MIB, 32));
      }
      if (mode === 'chatterer') pour(connection, frame(1, Buffer.alloc(MIB - 16, 32)));
    }
  });
}).listen(socket + '.new', () => {
  renameSync(socket + '.new', socket);
  writeFileSync('/home/agent/listens', mode);
});
`;

/** Puts it in the place of the instance's capsule, which runs on; `received`: all that was ever sent to it. */
export async function usurp(
  sandbox: EngineSandbox,
  instance: Instance,
  mode: Mode,
): Promise<{ received(): string }> {
  const home = join(sandbox.state, 'data', instance.base, 'home');
  const program = join(home, 'usurper.mjs');
  const [received, listens] = [join(home, 'received'), join(home, 'listens')];
  for (const path of [received, listens]) rmSync(path, { force: true });
  writeFileSync(program, PROGRAM);
  chownSync(program, 1000, 1000);
  const exec: Docker.Exec = await sandbox
    .container(instance)
    .exec({ Cmd: ['/jackin/runtime/node', '/home/agent/usurper.mjs', mode, instance.id] });
  await exec.start({ Detach: true });
  await eventually(`the ${mode} listens`, () => existsSync(listens), 60_000);
  return { received: () => (existsSync(received) ? readFileSync(received, 'latin1') : '') };
}
