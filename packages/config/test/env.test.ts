import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EnvReference, envReferences, resolveEnv } from '@jackin/config';
import { redact, runProcess } from '@jackin/core';
import { describe, expect, test } from '@jest/globals';
import { scratch } from './helpers.ts';

async function references(config: string, workspace: string | null, role = 'acme/smith') {
  const files: Record<string, string> = { 'config.toml': config };
  if (workspace !== null)
    files['workspaces/w.toml'] = `workdir = "/w"\nmounts = [{src="/s",dst="/w"}]\n${workspace}`;
  await using s = await scratch(files);
  const loaded = await s.load();
  const target = {
    workspaceName: workspace === null ? null : 'w',
    workspace: loaded.workspaces.get('w') ?? null,
  };
  return envReferences(loaded, target, role);
}

describe('envReferences', () => {
  test.each([
    ['"text"', 'literal:text'],
    ['""', 'literal:'],
    ['"$NAME"', '$NAME'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own form of a reference
    ['"${NAME}"', '$NAME'],
    ['"$NAME/x"', 'literal:$NAME/x'],
    ['"$"', 'literal:$'],
    ['"$1"', 'literal:$1'],
    ['"${NAME"', 'literal:${NAME'],
    ['"op://v/i/f"', 'literal:op://v/i/f'],
    ['{ op = "op://v/i/f" }', 'op://v/i/f'],
    ['{ op = "op://v/i/f", path = "V/I/F" }', 'op://v/i/f'],
    ['{ op = "op://v/i/f", account = "a & b" }', 'op://v/i/f?account=a%20%26%20b'],
    ['{ op = "op://v/i/f?attribute=otp", account = "acme" }', 'op://v/i/f?attribute=otp&account=acme'],
    ['{ value = "$NAME" }', '$NAME'],
    ['{ value = "text", on_demand = false }', 'literal:text'],
  ])('%s is %s', async (written, source) => {
    expect(await references(`[env]\nX = ${written}\n`, null)).toEqual([{ name: 'X', source }]);
  });

  test('later layers win, in their order', async () => {
    const config = `[env]\nA = "global"\nB = "global"\nC = "global"\nD = "global"
[roles."acme/smith".env]\nB = "role"\nC = "role"\nD = "role"\n[roles.other.env]\nA = "other"\n`;
    const workspace = `[env]\nC = "workspace"\nD = "workspace"\n[roles."acme/smith".env]\nD = "both"\n[roles.other.env]\nA = "other"\n`;
    const named = (list: EnvReference[]) =>
      Object.fromEntries(list.map(({ name, source }) => [name, source.slice(8)]));
    expect(named(await references(config, workspace))).toEqual({
      A: 'global',
      B: 'role',
      C: 'workspace',
      D: 'both',
    });
    expect(named(await references(config, null))).toEqual({ A: 'global', B: 'role', C: 'role', D: 'role' });
  });

  test('what is resolved on demand only is left out, also when it replaces another value', async () => {
    const workspace =
      '[env]\nA = { value = "$A", on_demand = true }\nB = { op = "op://v/i/f", on_demand = true }\n';
    expect(await references('[env]\nA = "x"\nC = "y"\n', workspace)).toEqual([
      { name: 'C', source: 'literal:y' },
    ]);
  });

  test('reserved names of every layer are refused in one error', async () => {
    const config = '[env]\nJACKIN_HOME_DIR = "x"\nFINE = "x"\n[roles."acme/smith".env]\nDOCKER_HOST = "x"\n';
    const workspace = `[env]\nDOCKER_TLS_VERIFY = { value = "1", on_demand = true }
[roles."acme/smith".env]\nDOCKER_CERT_PATH = "x"\nTESTCONTAINERS_HOST_OVERRIDE = "x"\n`;
    await expect(references(config, workspace)).rejects.toMatchObject({
      code: 'ENV_RESERVED',
      details: {
        offenders: [
          { name: 'JACKIN_HOME_DIR', layer: '[env]' },
          { name: 'DOCKER_HOST', layer: '[roles.acme/smith.env]' },
          { name: 'DOCKER_TLS_VERIFY', layer: 'w [env]' },
          { name: 'DOCKER_CERT_PATH', layer: 'w [roles.acme/smith.env]' },
          { name: 'TESTCONTAINERS_HOST_OVERRIDE', layer: 'w [roles.acme/smith.env]' },
        ],
      },
    });
  });

  test.each(['constructor', 'toString', '__proto__'])(
    'a role called %s has no variables by accident',
    async (role) => {
      expect(await references('[env]\nA = "x"\n', '', role)).toEqual([{ name: 'A', source: 'literal:x' }]);
    },
  );
});

describe('resolveEnv', () => {
  const host = { HOME: '/home/op', TOKEN: 'host-token-value', EMPTY: '' };
  const refused = async () => {
    throw new Error('no program may be run');
  };

  test('reads literals and host variables, and registers what is secret', async () => {
    const values = await resolveEnv(
      [
        { name: 'A', source: 'literal:plain-literal' },
        { name: 'B', source: '$TOKEN' },
        { name: 'C', source: '$EMPTY' },
        { name: 'D', source: '$HOME' },
      ],
      { hostEnv: host, run: refused },
    );
    expect(values).toEqual({ A: 'plain-literal', B: 'host-token-value', C: '', D: '/home/op' });
    expect(redact('host-token-value plain-literal /home/op')).toBe('[redacted] plain-literal /home/op');
  });

  test('names every variable that cannot be resolved, and its reference', async () => {
    const list = ['$MISSING', '$TOKEN', '$ALSO_MISSING', 'weird'].map((source, index) => ({
      name: `V${index}`,
      source,
    }));
    await expect(resolveEnv(list, { hostEnv: host, run: refused })).rejects.toMatchObject({
      code: 'ENV_UNRESOLVED',
      message: expect.stringMatching(/V0 \(\$MISSING\).*V2 \(\$ALSO_MISSING\).*V3 \(weird\)/),
      hint: expect.stringContaining('export MISSING='),
      details: { variables: [{ name: 'V0' }, { name: 'V2' }, { name: 'V3' }] },
    });
  });

  test('a value with a NUL byte, which no process could receive, is refused without being shown', async () => {
    const list = [{ name: 'V', source: 'literal:a-very-secret\0thing' }];
    const error = await resolveEnv(list, { hostEnv: host, run: refused }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ENV_UNRESOLVED' });
    expect(JSON.stringify(error)).not.toContain('a-very-secret');
  });

  /** A program called `op` that answers by reference and writes down how it was called. */
  const OP = `#!/bin/sh
for last; do :; done
case "$last" in
  op://v/i/args) printf '%s\\n' "$*" ;;
  op://v/i/env) printf '%s\\n' "$FROM_HOST" ;;
  op://v/i/lines) printf 'line one\\nline two\\n\\n' ;;
  op://v/i/loud) echo "loud-secret-value"; echo "[ERROR] item is loud-secret-value" >&2; exit 1 ;;
  op://v/i/dumb) exit 6 ;;
esac
`;
  async function withOp(sources: string[]) {
    await using s = await scratch({}, ['bin/']);
    const file = join(s.root, 'bin/op');
    await writeFile(file, OP);
    await chmod(file, 0o755);
    const hostEnv = { PATH: `${join(s.root, 'bin')}:${process.env.PATH}`, FROM_HOST: 'from-the-host' };
    return await resolveEnv(
      sources.map((source, index) => ({ name: `V${index}`, source })),
      { hostEnv, run: runProcess },
    );
  }

  test('reads 1Password references through op, with the account, one trailing newline off', async () => {
    const values = await withOp([
      'op://v/i/args',
      'op://v/i/args?account=a%20b',
      'op://v/i/env',
      'op://v/i/lines',
    ]);
    expect(values).toEqual({
      V0: 'read op://v/i/args',
      V1: 'read --account a b op://v/i/args',
      V2: 'from-the-host',
      V3: 'line one\nline two\n',
    });
    expect(redact('x from-the-host x')).toBe('x [redacted] x');
  });

  test('says what op said, without the secret it said', async () => {
    await expect(withOp(['op://v/i/loud', 'op://v/i/dumb'])).rejects.toMatchObject({
      code: 'ENV_UNRESOLVED',
      details: {
        variables: [
          { name: 'V0', source: 'op://v/i/loud', reason: '[ERROR] item is [redacted]' },
          { name: 'V1', source: 'op://v/i/dumb', reason: 'op ended with 6' },
        ],
      },
    });
  });

  test('says that op is not there', async () => {
    const list = [{ name: 'V', source: 'op://v/i/f' }];
    const hostEnv = { PATH: '/nonexistent' };
    await expect(resolveEnv(list, { hostEnv, run: runProcess })).rejects.toMatchObject({
      details: { variables: [{ reason: expect.stringContaining('not installed') }] },
    });
  });

  test('an answer that does not come in time and one that is too large are failures', async () => {
    const answer = { stdout: Buffer.from('part'), stderr: Buffer.alloc(0), exitCode: null, notFound: false };
    for (const fault of [
      { timedOut: true, truncated: false },
      { timedOut: false, truncated: true },
    ]) {
      const run = async () => ({ ...answer, ...fault });
      await expect(
        resolveEnv([{ name: 'V', source: 'op://v/i/f' }], { hostEnv: {}, run }),
      ).rejects.toMatchObject({
        code: 'ENV_UNRESOLVED',
        details: { variables: [{ reason: expect.stringMatching(/within|larger/) }] },
      });
    }
  });
});
