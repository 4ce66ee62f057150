import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { fakeAgent } from './support/agents.ts';
import { WAITING } from './support/attached.ts';
import { ended, rebooted } from './support/evidence.ts';
import { killInstance } from './support/instance.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';
import { type TypedDocument, typeErrors } from './support/typed.ts';

jest.setTimeout(240_000);

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.dispose());

describe('the documents of --json', () => {
  test('are one each, and have exactly the fields of the types that programs compile against', async () => {
    const documents: TypedDocument[] = [];
    const jackin = async (type: string, args: string[], codes = [0]): Promise<any> => {
      const { code, stdout } = await sandbox.jackin([...args, '--json']);
      const { schema_version: version, data, ...rest } = JSON.parse(stdout);
      expect({ args, version, rest }).toEqual({ args, version: 'v1', rest: {} });
      expect(codes).toContain(code);
      documents.push({ type, value: data });
      return data;
    };
    const load = ['load', 'shell', sandbox.project, '--agent', 'shell', '--new', '--backend', 'standalone'];
    const codex = fakeAgent(sandbox, 'codex', 'exit 3');
    const crashed = await codex.load();
    const other = await sandbox.loadShell(WAITING);
    await jackin('PlanDocument', [...load, '--dry-run']);
    const { instance_id: id, container_base: base } = await jackin('LoadDocument', [...load, '--detach']);
    await jackin('StatusDocument', ['status', '--detail', '--size']);
    await jackin('ResumeDocument', ['resume', id, '--detach']);
    await killInstance({ id, base });
    rebooted(sandbox, { id, base });
    await jackin('PlanDocument', ['resume', id, '--dry-run']);
    await jackin('ResumeAllDocument', ['resume', '--all']);
    await jackin('PlanDocument', ['stop', id, '--dry-run']);
    await jackin('PlansDocument', ['exile', '--dry-run']);
    await ended(crashed);
    await jackin('EndDocument', ['stop', crashed.id], [4]);
    await jackin('StatusDocument', ['hardline', id, '--inspect']);
    await jackin('EndDocument', ['stop', id, '--keep']);
    await jackin('ResumeDocument', ['resume', id, '--detach']);
    await jackin('EndDocument', ['eject', id]);
    await jackin('EndDocument', ['purge', id, '--yes']);
    await jackin('ExileDocument', ['exile', '--yes']);
    await jackin('EndDocument', ['stop', other.id, '--clean'], [0, 4]);
    await jackin('DoctorDocument', ['doctor'], [0, 1]);
    expect(typeErrors(join(sandbox.root, 'typed'), documents)).toBe('');
  });
});
