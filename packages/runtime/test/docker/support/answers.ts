import type { InspectedContainer, ListedContainer, ListedNetwork } from '../../../src/docker/api.ts';

export const ID = 'k7p9m2xq';
export const BASE = `jk-${ID}-shell`;
const NETWORK_ID = 'n'.repeat(64);
export const CONTAINER_ID = 'c'.repeat(64);
export const IMAGE_ID = `sha256:${'1'.repeat(64)}`;

export const ROLE_LABELS = {
  'jackin.managed': 'true',
  'jackin.kind': 'role',
  'jackin.instance': ID,
};

/** A container of ours as the engine inspects it: stopped, unless changed. */
export function inspected(
  state: Partial<InspectedContainer['State']> = {},
  change: Partial<InspectedContainer> = {},
): InspectedContainer {
  return {
    Id: CONTAINER_ID,
    Name: `/${BASE}`,
    Image: IMAGE_ID,
    State: {
      Status: 'exited',
      Running: false,
      OOMKilled: false,
      ExitCode: 0,
      Error: '',
      StartedAt: '2026-05-05T10:00:00.1Z',
      FinishedAt: '2026-05-05T11:00:00.1Z',
      ...state,
    },
    Config: { Labels: ROLE_LABELS },
    HostConfig: { Mounts: [] },
    NetworkSettings: { Networks: { [`${BASE}-net`]: { NetworkID: NETWORK_ID } } },
    ...change,
  };
}

export function listed(change: Partial<ListedContainer> = {}): ListedContainer {
  return {
    Id: CONTAINER_ID,
    Names: [`/${BASE}`],
    State: 'exited',
    ImageID: IMAGE_ID,
    Labels: ROLE_LABELS,
    Created: 1,
    ...change,
  };
}

export function network(change: Partial<ListedNetwork> = {}): ListedNetwork {
  return {
    Id: NETWORK_ID,
    Name: `${BASE}-net`,
    Created: '2026-05-05T10:00:00Z',
    Labels: { 'jackin.managed': 'true', 'jackin.role': BASE },
    ...change,
  };
}

export const BRIDGE: ListedNetwork = {
  Id: 'b'.repeat(64),
  Name: 'bridge',
  Created: '2026-05-05T09:00:00Z',
  Labels: {},
};
