import { describe, expect, it } from '@jest/globals';
import type { ListedContainer } from '../../src/docker/api.ts';
import { orphansOf } from '../../src/docker/orphans.ts';
import { allOf, selectContainer, selectSidecar } from '../../src/docker/select.ts';
import { manifestOf } from '../decide/fixtures.ts';
import { BASE, ID, listed, network, ROLE_LABELS } from './support/answers.ts';

const manifest = manifestOf('docker', {
  instance_id: ID,
  container_base: BASE,
  docker: { role_container: BASE, network: `${BASE}-net` },
});
const ref = { instance_id: ID, container_base: BASE, manifest };
const foreign = listed({ Id: 'foreign', Labels: {} });
const ours = listed({ Id: 'ours' });

const pick = (containers: ListedContainer[]) => {
  const selected = selectContainer(containers, ref);
  return selected.state === 'missing' ? 'missing' : `${selected.state} ${selected.container.Id}`;
};

describe('the container of an instance', () => {
  it.each([
    ['is missing in an empty list', [], 'missing'],
    ['is ours by its labels', [ours], 'ours ours'],
    ['O47: is foreign with our name and no labels of ours', [foreign], 'foreign foreign'],
    [
      'O47: is foreign with our name and the labels of another instance',
      [listed({ Id: 'other', Labels: { ...ROLE_LABELS, 'jackin.instance': 'zzzzzzzz' } })],
      'foreign other',
    ],
    [
      'O47: is foreign with half of our labels',
      [listed({ Id: 'half', Labels: { 'jackin.instance': ID } })],
      'foreign half',
    ],
    ['O34: is ours under another name', [listed({ Id: 'moved', Names: ['/theirs'] })], 'ours moved'],
    [
      'is the one that has the name of two',
      [listed({ Id: 'moved', Names: ['/theirs'], State: 'running' }), ours],
      'ours ours',
    ],
    [
      'is not one that a restore put aside',
      [listed({ Names: [`/${BASE}-before-20260101000000`] })],
      'missing',
    ],
    [
      'has its own name besides that of a link',
      [listed({ Id: 'linked', Names: [`/web/${BASE}`, '/other'], Labels: {} })],
      'missing',
    ],
  ])('%s', (_, containers, expected) => {
    expect(pick(containers)).toBe(expected);
  });

  it('counts with those put aside when everything of the instance is asked for', () => {
    const aside = listed({ Id: 'aside', Names: [`/${BASE}-before-20260101000000`] });
    expect(allOf([ours, aside, foreign], ref).map(({ Id }) => Id)).toEqual(['ours', 'aside']);
  });

  it('has a sidecar by its own labels', () => {
    const labels = { 'jackin.managed': 'true', 'jackin.kind': 'dind', 'jackin.role': BASE };
    const sidecar = listed({ Id: 'dind', Names: [`/${BASE}-dind`], Labels: labels });
    expect(selectSidecar([ours, sidecar], ref)).toMatchObject({ state: 'ours', container: { Id: 'dind' } });
    expect(selectSidecar([{ ...sidecar, Labels: {} }], ref)).toMatchObject({ state: 'foreign' });
    expect(selectSidecar([ours], ref)).toEqual({ state: 'missing' });
  });
});

describe('what nobody names', () => {
  const nothing = { containers: [], images: [], networks: [], volumes: [] };
  const other = 'jk-zzzzzzzz-shell';

  it('is listed by kind, with the instance it was made for', () => {
    const belongs = { 'jackin.managed': 'true', 'jackin.role': other };
    const found = orphansOf([ref], {
      containers: [
        ours,
        foreign,
        listed({ Names: [`/${other}`], Labels: { ...ROLE_LABELS, 'jackin.instance': 'zzzzzzzz' } }),
        listed({ Names: [`/${other}-dind`], Labels: { ...belongs, 'jackin.kind': 'dind' } }),
        listed({
          Names: ['/jk-preflight-1'],
          Labels: { 'jackin.managed': 'true', 'jackin.kind': 'preflight' },
        }),
        // Made by somebody from an image of ours, whose labels it has inherited.
        listed({ Names: ['/theirs'], Labels: { 'jackin.managed': 'true', 'jackin.kind': 'image' } }),
      ],
      images: [{ Id: 'i', RepoTags: [`jk-keep:${ID}`, 'jk-keep:zzzzzzzz', 'jk_shell:1'] }],
      networks: [
        network(),
        network({ Name: `${other}-net`, Labels: belongs }),
        network({ Name: 'theirs', Labels: {} }),
      ],
      volumes: [{ Name: `${other}-dind-certs`, Labels: belongs }],
    });
    expect(found).toEqual([
      { kind: 'container', name: other, instance_id: 'zzzzzzzz' },
      { kind: 'sidecar', name: `${other}-dind`, instance_id: 'zzzzzzzz' },
      { kind: 'container', name: 'jk-preflight-1', instance_id: null },
      { kind: 'network', name: `${other}-net`, instance_id: 'zzzzzzzz' },
      { kind: 'volume', name: `${other}-dind-certs`, instance_id: 'zzzzzzzz' },
      { kind: 'image_tag', name: 'jk-keep:zzzzzzzz', instance_id: 'zzzzzzzz' },
    ]);
  });

  it('is nothing of an instance that is named, put-aside containers included', () => {
    const aside = listed({ Names: [`/${BASE}-before-20260101000000`] });
    expect(orphansOf([ref], { ...nothing, containers: [ours, aside] })).toEqual([]);
  });
});
