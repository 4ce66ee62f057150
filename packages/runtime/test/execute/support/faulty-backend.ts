import type { Backend } from '../../../src/backend.ts';

export const FAULTS = ['error', 'hang', 'nonsense'] as const;
export type Fault = (typeof FAULTS)[number];
export type Method = Exclude<keyof Backend, 'kind'>;

/** The real backend with one method that fails in one way. These faults cannot be caused on demand. */
export function withFault(backend: Backend, method: Method, fault: Fault): Backend {
  const fail = FAILURES[fault];
  if (method === 'capsule') return { ...backend, capsule: () => ({ open: fail }) };
  return { ...backend, [method]: fail };
}

const FAILURES: Record<Fault, () => Promise<never>> = {
  error: () => Promise.reject(new Error('EPIPE: the engine went away')),
  hang: () => new Promise(() => {}),
  nonsense: () => Promise.resolve({ instances: new Map(), state: 'gone', created: 'yes' } as never),
};
