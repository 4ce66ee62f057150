import { readFileSync } from 'node:fs';
import type { PinnedNode } from '@jackin/runtime/docker';

/** Set by the bundler from the lock file; absent when the sources run directly. */
declare const JACKIN_PINNED_NODES: Record<string, PinnedNode> | undefined;

/** By architecture, the Node that containers get where ours cannot serve. */
export function pinnedNodes(): Record<string, PinnedNode> {
  return typeof JACKIN_PINNED_NODES === 'object' ? JACKIN_PINNED_NODES : lockedNodes();
}

/** @throws when the lock file does not pin them */
export function lockedNodes(): Record<string, PinnedNode> {
  const file = new URL('../../../package-lock.json', import.meta.url);
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    packages: Record<string, { version?: string; integrity?: string }>;
  };
  return Object.fromEntries(
    ['x64', 'arm64'].map((arch) => {
      const name = `node-linux-${arch}`;
      const { version, integrity } = packages[`node_modules/${name}`] ?? {};
      if (!version || !integrity)
        throw new Error(`package-lock.json pins no version and integrity of ${name}`);
      return [arch, { name, version, integrity }];
    }),
  );
}
