import { JackinError } from '@jackin/core';
import type { EndDocument, InstanceDocument, StatusDocument } from '@jackin/runtime';
import { describe, expect, test } from '@jest/globals';
import { renderError, renderResult } from '../src/index.ts';

const now = new Date('2026-03-01T12:00:00Z');
const plain = { color: false, now, detail: false };

const instance: InstanceDocument = {
  instance_id: 'k7p9m2xq',
  container_base: 'jk-k7p9m2xq-shell',
  workspace: '/srv/app',
  workdir: '/srv/app',
  role: 'shell',
  agent: 'shell',
  status: 'crashed',
  cause: 'capsule_crash',
  evidence: ['exit record: none', 'boot id: same since the last start'],
  container: 'missing',
  since: '2026-03-01T10:00:00Z',
  conversation: 'none',
  exit_pending: false,
  agent_alive: 'no',
  backend: 'standalone',
  keep: null,
  isolated: [],
};

const document: StatusDocument = {
  engine: [{ endpoint: 'standalone', state: 'reachable', run: 'boot-1' }],
  instances: [instance],
  corrupt: [{ path: '/state/data/jk-x/.jackin/instance.json', reason: 'not JSON' }],
  notices: [],
};

const status = (options = {}, changed: Partial<StatusDocument> = {}) =>
  renderResult(
    { kind: 'status', document: { ...document, ...changed }, exitCode: 1 },
    { ...plain, ...options },
  );

describe('status as text', () => {
  test('names each instance with status, cause, container and age, and every corrupt record', () => {
    const text = status();
    expect(text).toMatch(/k7p9m2xq +\/srv\/app +shell +shell +crashed +capsule_crash +missing +2h ago/);
    expect(text).toContain('corrupt  /state/data/jk-x/.jackin/instance.json');
  });

  test('adds evidence and the last screen only with --detail', () => {
    expect(status()).not.toContain('exit record');
    const text = status(
      { detail: true },
      { instances: [{ ...instance, last_screen: ['$ make \u001b]0;x\u0007'] }] },
    );
    expect(text).toContain('evidence      exit record: none');
    expect(text).toContain('│ $ make \\x1b]0;x\\x07');
  });

  test('says so when there is nothing', () => {
    expect(status({}, { instances: [], corrupt: [] })).toContain('No instances.');
  });

  test('uses no colour code unless colour was asked for', () => {
    expect(status()).not.toContain('\u001b');
    expect(status({ color: true })).toContain('\u001b[31mcrashed');
  });

  test('tells an instance that waits for its exit decision from one that does not', () => {
    const pending = { ...instance, status: 'clean_exited' as const, exit_pending: true };
    expect(status({}, { instances: [pending] })).toContain('clean_exited (exit pending)');
  });
});

describe('the end of a session as text', () => {
  const end: EndDocument = {
    instance_id: 'k7p9m2xq',
    container_base: 'jk-k7p9m2xq-shell',
    outcome: 'cleaned',
    status: null,
    cause: 'clean',
    evidence: ['--keep would have kept it'],
    kept_without_choice: false,
    removed: ['data of jk-k7p9m2xq-shell: home, conversation, settings'],
    kept: [],
    isolated: [],
    next_commands: [],
    policy: { value: 'ask', source: 'default' },
    agent_exit: { code: 0, signal: null },
  };

  test('names what a clean-up removed, the policy and how the agent ended', () => {
    const text = renderResult({ kind: 'end', document: end, exitCode: 0 }, plain);
    expect(text).toContain('jk-k7p9m2xq-shell was cleaned up.');
    expect(text).toContain('removed   data of jk-k7p9m2xq-shell: home, conversation, settings');
    expect(text).toContain('policy    ask (default)');
    expect(text).toContain('agent     exit code 0');
  });

  test('names the commands that come next when it is kept', () => {
    const kept = {
      ...end,
      outcome: 'kept' as const,
      status: 'crashed' as const,
      next_commands: ['jackin resume k7p9m2xq'],
    };
    const text = renderResult({ kind: 'end', document: kept, exitCode: 4 }, plain);
    expect(text).toContain('jk-k7p9m2xq-shell is kept, status crashed, cause clean.');
    expect(text).toContain('next      jackin resume k7p9m2xq');
  });
});

describe('errors as text', () => {
  const io = { stderr: { isTTY: false }, env: {} };

  test('show the sentence, the code and what to type next, and no stack trace', () => {
    const error = new JackinError({
      code: 'INSTANCE_NOT_FOUND',
      message: 'There is no instance "x".',
      hint: 'jackin status',
    });
    expect(renderError(error, io)).toBe(
      'error There is no instance "x". (INSTANCE_NOT_FOUND)\n      jackin status\n',
    );
  });

  test('let no control character of a message through', () => {
    const error = new JackinError({ code: 'X', message: 'bad \u001b[2J name' });
    expect(renderError(error, io)).not.toContain('\u001b');
  });
});
