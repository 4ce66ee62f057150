import type { ConfigurationResult, EditDocument } from '@jackin/runtime';
import { describe, expect, test } from '@jest/globals';
import { renderResult } from '../src/index.ts';

const render = (result: ConfigurationResult, color = false) =>
  renderResult(result, { color, now: new Date('2026-03-01T12:00:00Z'), detail: false });

const edit = (changes: Partial<EditDocument> = {}): string =>
  render({
    kind: 'edit',
    document: {
      action: 'changed',
      subject: 'workspace app',
      file: '/c/workspaces/app.toml',
      dry_run: false,
      changes: [],
      instances: [],
      ...changes,
    },
    exitCode: 0,
  });

describe('an edit as text', () => {
  test('names file, what it was and what it is', () => {
    const changes = [
      { key: 'dirty_exit_policy', before: 'ask', after: 'keep' },
      { key: 'mounts', before: null, after: { src: '/s', dst: '/w', readonly: true } },
      { key: 'allowed_roles', before: 'x\u001b[2J', after: null },
    ];
    expect(edit({ changes })).toBe(
      [
        'Changed workspace app.',
        '  file      /c/workspaces/app.toml',
        '  dirty_exit_policy  - "ask"  + "keep"',
        '  mounts             + { src = "/s", dst = "/w", readonly = true }',
        '  allowed_roles      - "x\\u001b[2J"',
        '',
      ].join('\n'),
    );
  });

  test('says what would be, what is the case already, and what became of each instance', () => {
    expect(edit({ dry_run: true, action: 'removed' })).toMatch(
      /^Would remove workspace app\.\n.*\nDry run: nothing was changed\.\n$/s,
    );
    expect(edit({ action: 'unchanged' })).toContain('Nothing to change in workspace app.');
    const instances = [
      {
        instance_id: 'a',
        container_base: 'jk-a',
        status: 'running' as const,
        effect: 'belongs to site',
        done: true,
      },
    ];
    expect(edit({ action: 'renamed', instances })).toContain('  instance  jk-a (running) belongs to site\n');
  });
});

describe('configuration as text', () => {
  test('settings say where each is from', () => {
    const text = render({
      kind: 'settings',
      document: {
        subject: 'config.toml',
        file: null,
        settings: [
          { key: 'attach.prefix', value: 'C-b', source: 'default', line: null },
          { key: 'env.A', value: '***', source: 'file', line: 3 },
        ],
        exit_policy: { value: 'ask', source: 'default' },
        instances: [{ instance_id: 'a', container_base: 'jk-a', status: 'stopped' }],
        problems: [{ file: '/c/config.toml', reason: 'a grant', line: 7 }],
      },
      exitCode: 0,
    });
    expect(text).toContain('file         none: everything is a default');
    expect(text).toMatch(/attach\.prefix {2}"C-b" {2}default\nenv\.A {10}"\*\*\*" {2}line 3\n/);
    expect(text).toContain('problem  /c/config.toml:7: a grant');
    expect(text).toContain('instance  jk-a  stopped');
  });

  test.each<[string, ConfigurationResult, string]>([
    [
      'no workspaces',
      { kind: 'workspaces', document: { workspaces: [] }, exitCode: 0 },
      'jackin workspace create NAME',
    ],
    [
      'no variables',
      { kind: 'variables', document: { subject: 'workspace app', variables: [] }, exitCode: 0 },
      'No variables in workspace app.',
    ],
    ['no mounts', { kind: 'mounts', document: { mounts: [] }, exitCode: 0 }, 'No mounts for every session.'],
    [
      'a policy',
      { kind: 'exit_policy', document: { value: 'keep', source: 'global' }, exitCode: 0 },
      'keep (global)',
    ],
    [
      'a variable on demand',
      {
        kind: 'variables',
        document: {
          subject: 'config.toml',
          variables: [{ layer: 'env', name: 'A', kind: 'host', value: '$A', on_demand: true }],
        },
        exitCode: 0,
      },
      'env    A     $A     host, on demand',
    ],
    [
      'a mount',
      {
        kind: 'mounts',
        document: { mounts: [{ name: 'c', src: '/s', dst: '/d', readonly: true }] },
        exitCode: 0,
      },
      'c     /s      /d           read-only',
    ],
    [
      'a workspace',
      {
        kind: 'workspaces',
        document: {
          workspaces: [
            {
              name: 'app',
              file: '/f',
              workdir: '/w',
              mounts: [],
              default_role: null,
              default_agent: 'shell',
              exit_policy: { value: 'keep', source: 'workspace' },
              instances: 2,
            },
          ],
        },
        exitCode: 0,
      },
      'app   /w       0       -     shell  keep (workspace)  2',
    ],
    [
      'a question answered with no',
      { kind: 'cancelled', document: { cancelled: true }, exitCode: 0 },
      'Cancelled: nothing was changed.',
    ],
  ])('%s', (_what, result, expected) => expect(render(result)).toContain(expected));
});

describe('roles as text', () => {
  test('a report names each problem with its place', () => {
    const text = render({
      kind: 'role_report',
      document: {
        path: '/r',
        valid: false,
        problems: [
          { code: 'ROLE_INVALID', file: '/r/jackin.role.toml', key: 'agents', line: 3, reason: 'is empty' },
          { code: 'ROLE_INVALID', file: '/r/Dockerfile', key: '', line: null, reason: 'has no FROM' },
        ],
        notices: ['old'],
        manifest: null,
      },
      exitCode: 1,
    });
    expect(text).toBe(
      'The role in /r cannot be used.\n  /r/jackin.role.toml:3: agents: is empty (ROLE_INVALID)\n  /r/Dockerfile: has no FROM (ROLE_INVALID)\n  note: old\n',
    );
  });

  test('a migration names each step, and a list each problem below its role', () => {
    const migration = {
      file: '/r/jackin.role.toml',
      from: 'v1alpha5',
      to: 'v1alpha6',
      steps: [{ from: 'v1alpha5', to: 'v1alpha6', summary: 'stamp' }],
      changed: true,
      dry_run: true,
    };
    expect(render({ kind: 'role_migration', document: migration, exitCode: 0 })).toBe(
      'Would bring /r/jackin.role.toml from v1alpha5 to v1alpha6.\n  v1alpha5 → v1alpha6  stamp\nDry run: nothing was changed.\n',
    );
    const role = {
      key: 'mine',
      kind: 'path' as const,
      source: '/r',
      trusted: true,
      cached: null,
      display_name: null,
      agents: null,
      problem: { code: 'ROLE_NOT_FOUND', message: 'gone.', hint: null },
    };
    expect(render({ kind: 'roles', document: { roles: [role] }, exitCode: 0 })).toContain(
      '  gone. (ROLE_NOT_FOUND)\n',
    );
    expect(
      render({ kind: 'role_created', document: { dir: '/r', files: ['Dockerfile'] }, exitCode: 0 }),
    ).toContain('jackin role validate /r');
  });
});
