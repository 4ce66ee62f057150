import { ensurePrivateDir, JackinError } from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import { capsuleOwner } from '../decide/container-user.ts';
import type { Step } from '../plan.ts';
import type { Handler } from './ports.ts';

/** Claims the name: directories, manifest, row. Found to be ours already, only the row is made sure of. */
export const createInstance: Handler<'create_instance'> = async (step, { ports, base, instanceId }) => {
  try {
    await ports.store.create(step.manifest);
    return { state: 'done' };
  } catch (error) {
    if (!(error instanceof JackinError) || error.code !== 'INSTANCE_EXISTS') throw error;
    const existing = await ports.store.read(base);
    if (existing?.instance_id !== instanceId) throw error;
    await ports.store.update(base, (manifest) => manifest);
    return { state: 'skipped', detail: 'it exists already' };
  }
};

/** Manifest first, then index. An instance whose manifest a clean-up has already removed needs no record. */
export const recordStatus: Handler<'record_status'> = async (step, { ports, base }) => {
  if (step.status === 'purged' && (await ports.store.read(base)) === null) {
    return { state: 'skipped', detail: 'the manifest is gone already' };
  }
  const at = ports.clock.now().toISOString();
  await ports.store.update(base, (manifest) => withRecord(manifest, step, at));
  const { trees = {} } = step;
  if (Object.keys(trees).length > 0) {
    await ports.store.changeIsolation(base, (records) =>
      records.map((record) => ({
        ...record,
        cleanup_status: trees[record.mount_dst] ?? record.cleanup_status,
      })),
    );
  }
  return { state: 'done', detail: step.status };
};

/** Only what names the workspace; an instance of another one stays as it is. */
export const recordWorkspace: Handler<'record_workspace'> = async ({ name, from }, { ports, base }) => {
  const manifest = await ports.store.read(base);
  if (manifest?.workspace_name !== from) return { state: 'skipped', detail: `it is not of ${from}` };
  await ports.store.update(base, (one) => ({ ...one, workspace_name: name, workspace_label: name }));
  return { state: 'done', detail: name };
};

export const prepareSocketDir: Handler<'prepare_socket_dir'> = async (_step, context) => {
  const { ports, base } = context;
  const { manifest } = await context.ref();
  await ensurePrivateDir(ports.paths.socketsDir);
  await ensurePrivateDir(ports.paths.instance(base).sockets, capsuleOwner(manifest));
  return { state: 'done' };
};

export const rebuildIndex: Handler<'rebuild_index'> = async (_step, { ports }) => {
  await ports.store.rebuildIndex();
  return { state: 'done' };
};

/** A field the step does not name stays; one it names as null goes. */
function withRecord(manifest: Manifest, step: Extract<Step, { op: 'record_status' }>, at: string): Manifest {
  const next: Manifest = { ...manifest, status: step.status };
  setOrClear(next, 'exit_cause', step.exit_cause);
  setOrClear(next, 'keep', step.keep);
  setOrClear(next, 'stop_request', step.stop_request);
  if (step.seen_in !== undefined) {
    const { boot_id, ...engine } = step.seen_in;
    next.engine = { ...manifest.engine, ...engine };
    if (boot_id !== null) next.last_seen = { ...manifest.last_seen, at, boot_id };
  }
  if (step.last_attach_outcome !== undefined) next.last_attach_outcome = step.last_attach_outcome;
  return next;
}

function setOrClear<Key extends 'exit_cause' | 'keep' | 'stop_request'>(
  manifest: Manifest,
  key: Key,
  value: Manifest[Key] | null | undefined,
): void {
  if (value === null) delete manifest[key];
  else if (value !== undefined) manifest[key] = value;
}
