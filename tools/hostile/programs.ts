import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { forgottenPlaces } from './forgotten-places.ts';
import { type Plant, put, setting, touch } from './plant.ts';
import type { Scene } from './scene.ts';

const CLONE = ['clone'] as const;
const STATUS = { args: ['status'] };
const COMMIT = ['commit', '--quiet', '--allow-empty', '--message', 'x'];

/** Settings and files by which git runs a program. */
export const programs: readonly Plant[] = [
  byConfig('core.fsmonitor', ({ program }) => `[core]\n\tfsmonitor = ${program}`, STATUS),
  byConfig(
    'core.hooksPath',
    (scene) => {
      put(join(scene.root, 'hooks/post-index-change'), `#!/bin/sh\n${scene.program}\n`, 0o755);
      touch(join(scene.tree, 'b.txt'));
      return `[core]\n\thooksPath = ${join(scene.root, 'hooks')}`;
    },
    STATUS,
  ),
  ...hooks(),
  ...drivers(),
  byConfig('diff.external', ({ program }) => `[diff]\n\texternal = ${program}`, { args: ['diff'] }),
  byConfig('core.sshCommand', ({ program }) => `[core]\n\tsshCommand = ${program}`, {
    args: ['fetch', 'ssh://example.invalid/x'],
  }),
  byConfig('core.gitProxy', ({ program }) => `[core]\n\tgitProxy = ${program}`, {
    args: ['fetch', 'git://example.invalid/x'],
  }),
  byConfig(
    'core.alternateRefsCommand',
    (scene) => {
      put(join(scene.gitDir, 'objects/info/alternates'), `${scene.host}/.git/objects\n`);
      return `[core]\n\talternateRefsCommand = ${scene.program}`;
    },
    { args: ['rev-list', '--alternate-refs'] },
  ),
  byConfig('credential.helper', ({ program }) => `[credential]\n\thelper = !${program}`, {
    args: ['credential', 'fill'],
    input: 'protocol=https\nhost=example.invalid\n\n',
  }),
  byConfig('core.askPass', ({ program }) => `[core]\n\taskPass = ${program}`, {
    args: ['credential', 'fill'],
    input: 'protocol=https\nhost=example.invalid\n\n',
  }),
  byConfig('gpg.program', ({ program }) => `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${program}`, {
    args: COMMIT,
  }),
  byConfig(
    'gpg.ssh.program',
    ({ program }) =>
      `[commit]\n\tgpgSign = true\n[user]\n\tsigningKey = key::ssh-ed25519 AAAA\n[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = ${program}`,
    { args: COMMIT },
  ),
  byConfig('tag.gpgSign', ({ program }) => `[tag]\n\tgpgSign = true\n[gpg]\n\tprogram = ${program}`, {
    args: ['tag', '--annotate', '--message', 'x', 'x'],
  }),
  { ...signed(), kinds: CLONE, fires: { args: ['log', '-1'] }, proves: 'runs' },
  byConfig(
    'include.path',
    (scene) => {
      put(join(scene.tree, 'evil.config'), `[core]\n\tfsmonitor = ${scene.program}\n`);
      return `[include]\n\tpath = ../evil.config`;
    },
    STATUS,
  ),
  byConfig(
    'includeIf.path',
    (scene) => {
      put(join(scene.tree, 'evil.config'), `[core]\n\tfsmonitor = ${scene.program}\n`);
      return '[includeIf "gitdir:**"]\n\tpath = ../evil.config';
    },
    STATUS,
  ),
  byConfig(
    'core.pager and pager.status',
    ({ program }) => `[core]\n\tpager = ${program}\n[pager]\n\tstatus = ${program}`,
  ),
  byConfig('core.editor', ({ program }) => `[core]\n\teditor = ${program}`, { args: ['commit', '--amend'] }),
  byConfig(
    'sequence.editor',
    ({ program }) => `[sequence]\n\teditor = ${program}\n[rebase]\n\tautoStash = true`,
    {
      args: ['rebase', '--interactive', 'HEAD~1'],
    },
  ),
  byConfig('alias', ({ program }) => `[alias]\n\tx = !${program}\n\tstatus = !${program}`, { args: ['x'] }),
  byConfig('uploadpack.packObjectsHook', ({ program }) => `[uploadpack]\n\tpackObjectsHook = ${program}`),
  byConfig('remote.uploadpack', ({ program }) => `[remote "origin"]\n\tuploadpack = ${program}`, {
    args: ['fetch', 'origin'],
  }),
  byConfig('remote.receivepack', ({ program }) => `[remote "origin"]\n\treceivepack = ${program}`, {
    args: ['push', 'origin', 'HEAD:refs/heads/x'],
  }),
  byConfig(
    'remote.vcs',
    ({ program }) => `[remote "evil"]\n\tvcs = ext\n\turl = ${program}\n[protocol]\n\tallow = always`,
    {
      args: ['fetch', 'evil'],
    },
  ),
  byConfig(
    'protocol ext::',
    ({ program }) => `[remote "evil"]\n\turl = ext::${program}\n[protocol "ext"]\n\tallow = always`,
    { args: ['fetch', 'evil'] },
  ),
  byConfig('trailer.cmd', ({ program }) => `[trailer "evil"]\n\tkey = Evil\n\tcmd = ${program}`, {
    args: ['interpret-trailers', '--trailer', 'Evil=x'],
    input: 'subject\n\nbody\n',
  }),
  byConfig(
    'interactive.diffFilter',
    ({ program }) => `[interactive]\n\tdiffFilter = ${program}\n[color]\n\tui = always`,
  ),
  byConfig('difftool.cmd', ({ program }) => `[difftool "evil"]\n\tcmd = ${program}\n[diff]\n\ttool = evil`, {
    args: ['difftool', '--no-prompt'],
  }),
  {
    name: 'a rebase in progress that runs a command',
    fires: { args: ['rebase', '--continue'] },
    proves: 'runs',
    plant: async (scene) => {
      await scene.git(['commit', '--quiet', '--all', '--message', 'x']);
      await scene.git(['-c', 'sequence.editor=true', 'rebase', '--interactive', '--exec', 'false', 'HEAD~1']);
      put(join(scene.gitDir, 'rebase-merge/git-rebase-todo'), `exec ${scene.program}\n`);
      put(join(scene.tree, 'a.txt'), 'work again\n');
      await scene.git(['stash', '--quiet']);
    },
  },
  ...forgottenPlaces,
];

/** Every hook a git in the tree can meet, in the place git looks for it. */
function hooks(): Plant[] {
  const commit: Plant['fires'] = { args: COMMIT };
  const wanted: [string, Plant['fires']][] = [
    ['post-index-change', STATUS],
    ['pre-commit', commit],
    ['prepare-commit-msg', commit],
    ['commit-msg', commit],
    ['post-commit', commit],
    ['post-rewrite', { args: ['commit', '--amend', '--no-edit', '--allow-empty'] }],
    ['post-checkout', { args: ['switch', '--quiet', '--create', 'x'] }],
    ['pre-rebase', { args: ['rebase', '--autostash', '--no-ff', 'HEAD~1'] }],
    ['reference-transaction', { args: ['update-ref', 'refs/heads/x', 'HEAD'] }],
    ['pre-push', { args: ['push', 'origin', 'HEAD:refs/heads/x'] }],
    ['pre-auto-gc', { args: ['-c', 'gc.auto=1', '-c', 'gc.autoPackLimit=1', 'gc', '--auto'] }],
    ['fsmonitor-watchman', undefined],
  ];
  return wanted.map(([name, fires]) => ({
    name: `hook ${name}`,
    ...(fires === undefined || name === 'pre-auto-gc' ? {} : { fires, proves: 'runs' as const }),
    plant: (scene) => {
      put(join(scene.commonDir, 'hooks', name), `#!/bin/sh\n${scene.program} ${name}\n`, 0o755);
      touch(join(scene.tree, 'b.txt'));
    },
  }));
}

function drivers(): Plant[] {
  const attribute = (scene: Scene, what: string): void =>
    put(join(scene.tree, '.gitattributes'), `*.txt ${what}=evil\n`);
  const filter = (key: string, fires: Plant['fires']): Plant =>
    byConfig(
      `filter.${key}`,
      (scene) => {
        attribute(scene, 'filter');
        touch(join(scene.tree, 'b.txt'));
        if (key === 'smudge') rmSync(join(scene.tree, 'b.txt'));
        return `[filter "evil"]\n\t${key} = ${scene.program}`;
      },
      fires,
    );
  const differ = (key: string): Plant =>
    byConfig(
      `diff.${key}`,
      (scene) => {
        attribute(scene, 'diff');
        return `[diff "evil"]\n\t${key} = ${scene.program}`;
      },
      { args: ['diff'] },
    );
  return [
    filter('clean', STATUS),
    filter('process', STATUS),
    filter('smudge', { args: ['checkout', '--', 'b.txt'] }),
    differ('command'),
    differ('textconv'),
    {
      name: 'filter by info/attributes',
      kinds: CLONE,
      fires: STATUS,
      proves: 'runs',
      plant: (scene) => {
        put(join(scene.commonDir, 'info/attributes'), '* filter=evil\n');
        setting(scene, `[filter "evil"]\n\tclean = ${scene.program}`);
        touch(join(scene.tree, 'b.txt'));
      },
    },
    {
      name: 'merge.driver',
      kinds: CLONE,
      fires: { args: ['merge', '--no-edit', 'other'] },
      proves: 'runs',
      plant: async (scene) => {
        await scene.git(['switch', '--quiet', '--create', 'other']);
        put(join(scene.tree, 'b.txt'), 'theirs\n');
        await scene.git(['commit', '--quiet', '--message', 'theirs', '--', 'b.txt']);
        await scene.git(['switch', '--quiet', 'main']);
        put(join(scene.tree, 'b.txt'), 'ours\n');
        await scene.git(['commit', '--quiet', '--message', 'ours', '--', 'b.txt']);
        attribute(scene, 'merge');
        setting(scene, `[merge "evil"]\n\tdriver = ${scene.program}`);
      },
    },
  ];
}

function signed(): Pick<Plant, 'name' | 'plant'> {
  return {
    name: 'log.showSignature',
    plant: async (scene) => {
      const { out } = await scene.git(['cat-file', 'commit', 'HEAD']);
      const [head, ...rest] = out.split('\n\n');
      const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----';
      const made = await scene.git(['hash-object', '-t', 'commit', '-w', '--stdin'], {
        input: `${head}\n${signature}\n\n${rest.join('\n\n')}`,
      });
      await scene.git(['update-ref', 'HEAD', made.out.trim()]);
      setting(scene, `[log]\n\tshowSignature = true\n[gpg]\n\tprogram = ${scene.program}`);
    },
  };
}

function byConfig(name: string, text: (scene: Scene) => string, fires?: Plant['fires']): Plant {
  return {
    name,
    kinds: CLONE,
    plant: (scene) => setting(scene, text(scene)),
    ...(fires === undefined ? {} : { fires, proves: 'runs' as const }),
  };
}
