import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../../e2e/support/sandbox.ts';

/** The role of `fakeRole`. Its codex runs what follows `--`; its amp is there and cannot be started. */
export const FAKE = { role: 'fakes', agent: 'codex' };
export const BROKEN = { role: 'fakes', agent: 'amp' };

const PROGRAMS = { codex: '#!/bin/sh\nexec "$@"\n', amp: '#!/nonexistent/interpreter\n' };

/**
 * Makes a role whose image has programs in the place of agents; its lines of `config.toml`.
 * @param salt makes its image another one than that of the same role with another salt
 */
export function fakeRole(sandbox: Sandbox, salt = ''): string {
  const dir = join(sandbox.root, 'fakes');
  mkdirSync(join(dir, 'bin'), { recursive: true });
  for (const [name, text] of Object.entries(PROGRAMS)) {
    writeFileSync(join(dir, 'bin', name), text);
    chmodSync(join(dir, 'bin', name), 0o755);
  }
  const dockerfile = [
    'FROM debian:bookworm-slim',
    'COPY bin/ /usr/local/bin/',
    `ENV LANG=C.UTF-8 SHELL=/bin/bash SALT="${salt}"`,
  ];
  writeFileSync(join(dir, 'Dockerfile'), `${dockerfile.join('\n')}\n`);
  const manifest = [
    'version = "v1alpha6"',
    'dockerfile = "Dockerfile"',
    'agents = ["codex", "amp", "shell"]',
    '',
    '[identity]',
    'name = "Fakes"',
  ];
  writeFileSync(join(dir, 'jackin.role.toml'), `${manifest.join('\n')}\n`);
  return `[roles.fakes]\npath = "${dir}"\n`;
}
