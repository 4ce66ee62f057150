import { JackinError } from '@jackin/core';
import { backendOf } from '@jackin/instance';
import type { InstanceFacts, IsolatedMountFact } from '../facts.ts';
import { isUnprovenAbsence } from './classify-exit.ts';
import { mountDocument } from './mount-document.ts';

/**
 * How far an operator has consented to a purge: `yes` answers the question, `force` covers work at risk, `named` means
 * that the instance's name was typed after its doubts were shown.
 */
export type CleanConsent = 'none' | 'yes' | 'force' | 'named';

const RANK: Readonly<Record<CleanConsent, number>> = { none: 0, yes: 1, force: 2, named: 3 };

/**
 * The consent a purge of this instance needs (docs/status-and-causes.md#clean): `named` when something could not be
 * looked at, `force` when work would be lost. A clean-up that had begun was consented to when it began, but for trees
 * that are still there and not clean.
 */
export function requiredConsent(facts: InstanceFacts): Exclude<CleanConsent, 'none'> {
  if (facts.manifest.status === 'purged' && !isUnprovenAbsence(facts) && !holdsWork(facts)) {
    return facts.isolated.some(holdsCommits) ? 'force' : 'yes';
  }
  if (doubts(facts).length > 0) return 'named';
  return facts.isolated.some(({ verdict }) => verdict !== 'clean') ? 'force' : 'yes';
}

/** A tree that is there still and is not clean: what was agreed to when the clean-up began may have been another one. */
function holdsWork({ isolated }: InstanceFacts): boolean {
  return isolated.some(({ verdict, present }) => verdict !== 'clean' && present !== 'no');
}

/** Its tree is gone, and its branch has commits: whether it was there when the clean-up began cannot be told. */
function holdsCommits({ present, branch_commit: tip, record }: IsolatedMountFact): boolean {
  return present === 'no' && tip != null && tip !== record?.base_commit;
}

/** What could not be looked at, in words; empty when everything was seen. */
export function doubts(facts: InstanceFacts): string[] {
  const { observation, isolated } = facts;
  const { sidecar, volume, network, image } = observation;
  const found = isolated
    .filter(({ verdict }) => verdict === 'unknown')
    .map(({ mount_dst, reason }) => `${mount_dst} could not be assessed: ${reason}`);
  if (facts.data_dir === 'unknown') found.push('its data directory cannot be read');
  if (facts.socket_dir === 'unknown') found.push('its socket directory cannot be read');
  if (backendOf(facts.manifest) === 'standalone') return found;
  if (facts.engine_matches === 'unknown') found.push('the engine it was made on is not recorded');
  if (sidecar?.state === 'unreachable') found.push(`its sidecar: ${sidecar.reason}`);
  if (volume === 'unknown') found.push('its certificate volume could not be looked at');
  if (network === 'unknown') found.push('its network could not be looked at');
  if (image?.by_keep_tag.state === 'unknown') found.push(`its keep tag: ${image.by_keep_tag.reason}`);
  return found;
}

/** @throws JackinError CONFIRMATION_NEEDED, WORK_AT_RISK, WORK_UNKNOWN */
export function refuseWithoutConsent(facts: InstanceFacts, consent: CleanConsent): void {
  const { container_base: base, instance_id: id } = facts;
  const needed = requiredConsent(facts);
  if (RANK[consent] >= RANK[needed]) return;
  if (needed === 'named') {
    const found = doubts(facts);
    throw new JackinError({
      code: 'WORK_UNKNOWN',
      message: `${base} may hold work nobody could look at: ${found.join('; ')}`,
      hint: `Run \`jackin purge ${id}\` in a terminal and type its name, or keep it.`,
      details: { doubts: found },
      exitCode: 3,
    });
  }
  if (needed === 'force') {
    const lost = facts.isolated.filter(({ verdict }) => verdict !== 'clean');
    throw new JackinError({
      code: 'WORK_AT_RISK',
      message: `${base} has unfinished work in ${lost.map(({ mount_dst, reason }) => `${mount_dst} (${reason})`).join(', ')}`,
      hint:
        facts.manifest.status === 'purged'
          ? finishIt(facts, lost)
          : `Resume it with \`jackin resume ${id}\`, or lose the work with \`jackin purge ${id} --force\`.`,
      details: { mounts: lost.map(mountDocument) },
      exitCode: 3,
    });
  }
  throw new JackinError({
    code: 'CONFIRMATION_NEEDED',
    message: `Removing ${base} deletes its home and conversation`,
    hint: `Confirm it with \`jackin purge ${id} --yes\`.`,
    exitCode: 3,
  });
}

/** A clean-up that has begun cannot be resumed: what is left is a tree, or the branch of one. */
function finishIt({ instance_id: id }: InstanceFacts, lost: readonly IsolatedMountFact[]): string {
  const looks = lost.map(({ path, present, record }) =>
    present === 'no' && record
      ? `git -C ${JSON.stringify(record.original_src)} log ${record.scratch_branch}`
      : `git -C ${JSON.stringify(path)} status`,
  );
  return `Its clean-up had begun. Look at what is left (${looks.join('; ')}), save it elsewhere, or lose it with \`jackin purge ${id} --force\`.`;
}
