import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { errorCode, fileSystemError, JackinError } from '@jackin/core';
import { literal } from '../document/index.ts';
import { MANIFEST_VERSION } from '../version.ts';
import { openRoleFiles } from './directory.ts';
import { ROLE_MANIFEST } from './manifest.ts';

export interface CreatedRole {
  dir: string;
  /** Relative to `dir`. */
  files: string[];
}

/**
 * Writes the files of a small role that works as it is: a Debian with git and a shell (docs/roles.md#a-role-of-your-own).
 * @param dir is made; one that holds something is refused
 * @param name what people read; default: the name of the directory
 * @throws JackinError `ROLE_EXISTS`, `STATE_NOT_WRITABLE`, `DISK_FULL`
 */
export async function createRole(dir: string, name: string | null = null): Promise<CreatedRole> {
  const target = resolve(dir);
  const title = name ?? basename(target);
  const files = template(title);
  const written: string[] = [];
  try {
    await mkdir(target, { recursive: true });
    if ((await readdir(target)).some((entry) => entry !== '.git')) throw exists(target);
    for (const [path, text] of Object.entries(files)) {
      await writeFile(join(target, path), text, { flag: 'wx', mode: 0o644 });
      written.push(path);
    }
    const { dir: made } = await openRoleFiles(target);
    return { dir: made, files: Object.keys(files) };
  } catch (error) {
    // Of a role that is not whole nothing stays; what was there before is not touched.
    for (const path of written) await rm(join(target, path), { force: true }).catch(() => {});
    if (error instanceof JackinError) throw error;
    if (errorCode(error) === 'ENOTDIR' || errorCode(error) === 'EEXIST') throw exists(target);
    throw fileSystemError(error, target, 'write');
  }
}

function exists(dir: string): JackinError {
  return new JackinError({
    code: 'ROLE_EXISTS',
    message: `${dir} holds something already, so no role was written into it.`,
    hint: 'Name a directory that is empty or does not exist.',
    details: { path: dir },
  });
}

function template(title: string): Record<string, string> {
  return {
    [ROLE_MANIFEST]: `version = "${MANIFEST_VERSION}"
dockerfile = "Dockerfile"
# The first one is what \`jackin load\` runs. The programs of the others have to be in the image.
agents = ["shell"]

[identity]
name = ${literal(title)}
`,
    Dockerfile: `FROM debian:bookworm-slim

# The image needs glibc 2.28 or later with libstdc++, /bin/sh, mkdir, chown and chmod; jackin adds the rest.
RUN apt-get update \\
  && apt-get install -y --no-install-recommends bash ca-certificates git libstdc++6 procps \\
  && rm -rf /var/lib/apt/lists/*

ENV LANG=C.UTF-8 SHELL=/bin/bash
`,
    '.dockerignore': '.git\nREADME.md\n',
    'README.md': `# ${title}

A role for jackin. Name it in \`config.toml\`:

\`\`\`toml
[roles.mine]
path = "/where/this/directory/is"
# or, once it is pushed: git = "https://example.com/role.git"
\`\`\`

Then \`jackin role validate .\` looks at it, and \`jackin load mine\` runs it.
`,
  };
}
