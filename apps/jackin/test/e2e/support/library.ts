import { fileURLToPath } from 'node:url';
import { acquireLock, type JackinEvent, resolvePaths, systemClock } from '@jackin/core';
import { createInstanceStore } from '@jackin/instance';
import {
  type Backend,
  createCapsuleAccess,
  createJackin,
  createObserveOne,
  createStandaloneBackend,
  createTrees,
  type ExecutionReceipt,
  execute,
  type InstanceFacts,
  type Jackin,
  type LoadRequest,
  type Prompts,
  REMOVING_OPS,
  type StepOp,
} from '@jackin/runtime';
import type { Instance } from './instance.ts';
import { BIN, type Sandbox } from './sandbox.ts';

/** The packages behind the command line on the same state, as another program would use them. */
export interface Library {
  jackin: Jackin;
  events: JackinEvent[];
  /** Of every plan so far, the steps that took something away. */
  removals(): StepOp[];
  facts(instance: Instance): Promise<InstanceFacts>;
  /** The executor's door: a plan as it came, under the instance's lock. */
  execute(plan: unknown, instance: Instance): Promise<ExecutionReceipt>;
}

export interface LibraryOptions {
  /** Some methods of the real backend fail in one way. */
  fault?: { methods: readonly Method[]; fault: Fault };
  confirm?: Prompts['confirm'];
}

export const FAULTS = ['error', 'hang', 'nonsense'] as const;
export type Fault = (typeof FAULTS)[number];
export type Method = Exclude<keyof Backend, 'kind'>;

/** `load shell --new --detach --backend standalone -- sleep 1000` in the project. */
export const LOAD: LoadRequest = {
  acceptLoss: false,
  allowDrift: false,
  dryRun: false,
  role: 'shell',
  target: null,
  agent: 'shell',
  session: 'new',
  policy: null,
  detach: true,
  mounts: [],
  mountIsolation: [],
  limits: {},
  backend: 'standalone',
  command: ['sleep', '1000'],
  force: false,
};

export function openLibrary({ env, project }: Sandbox, options: LibraryOptions = {}): Library {
  const paths = resolvePaths(env);
  const events: JackinEvent[] = [];
  const sink = (event: JackinEvent): void => void events.push(event);
  const standalone = createStandaloneBackend({
    paths,
    capsuleProgram: {
      file: process.execPath,
      args: [fileURLToPath(new URL('./capsule.mjs', `file://${BIN}`))],
    },
    clock: systemClock,
    events: sink,
    env,
  });
  const { fault, confirm } = options;
  const backend = fault === undefined ? standalone : withFault(standalone, fault);
  const clientName = 'a program';
  const store = createInstanceStore({ paths, events: sink, clock: systemClock });
  const capsule = createCapsuleAccess({ paths, clientName });
  const backends = new Map([[backend.kind, backend]]);
  const trees = createTrees({ env });
  const observeOne = createObserveOne({ store, paths, backends, capsule, trees });
  return {
    events,
    jackin: createJackin({
      paths,
      env,
      cwd: project,
      events: sink,
      clock: systemClock,
      prompts: { ...NOBODY, ...(confirm === undefined ? {} : { available: true, confirm }) },
      attach: { run: () => Promise.reject(new Error('nothing was expected to attach')) },
      terminal: null,
      backends: [backend],
      clientName,
      ...(fault === undefined ? {} : { bounds: boundsFor(fault) }),
    }),
    removals: () =>
      events.flatMap((event) => {
        if (event.type !== 'step' || event.state !== 'done') return [];
        return REMOVING_OPS.has(event.op as StepOp) ? [event.op as StepOp] : [];
      }),
    async facts({ base }) {
      const facts = await observeOne(base, undefined, 'assess');
      if (facts === null) throw new Error(`${base} is gone`);
      return facts;
    },
    async execute(plan, { base }) {
      const { lock: path } = paths.instance(base);
      await using lock = await acquireLock(path, {
        purpose: 'library',
        locksDb: paths.locksDb,
        waitMs: 5_000,
      });
      return await execute(plan as Parameters<typeof execute>[0], {
        store,
        paths,
        backends,
        events: sink,
        clock: systemClock,
        observeOne,
        trees,
        lock,
        resolveEnv: async () => ({}),
        capsule,
        hostEnv: env,
      });
    },
  };
}

const LOOKING: readonly Method[] = ['observe', 'changedPaths', 'doctor'];
const ACTING: readonly Method[] = ['stop', 'endLeftovers', 'remove', 'create', 'start'];

/** Waiting for an answer that never comes is cut short; what does answer gets its time on a busy machine. */
function boundsFor({ methods, fault }: NonNullable<LibraryOptions['fault']>) {
  const hangs = (some: readonly Method[]): boolean =>
    fault === 'hang' && methods.some((method) => some.includes(method));
  return {
    backendMs: hangs(LOOKING) ? 300 : 10_000,
    capsuleMs: hangs(['capsule']) ? 300 : 5_000,
    callMs: hangs(ACTING) ? 1_500 : 20_000,
  };
}

/** These faults cannot be caused on demand. */
function withFault(backend: Backend, { methods, fault }: NonNullable<LibraryOptions['fault']>): Backend {
  const fail = FAILURES[fault];
  return {
    ...backend,
    ...Object.fromEntries(methods.map((method) => [method, fail])),
    ...(methods.includes('capsule') ? { capsule: () => ({ open: fail }) } : {}),
  };
}

const FAILURES: Record<Fault, () => Promise<never>> = {
  error: () => Promise.reject(new Error('EPIPE: the engine went away')),
  hang: () => new Promise(() => {}),
  nonsense: () => Promise.resolve({ instances: new Map(), state: 'gone', created: 'yes' } as never),
};

const unasked = () => Promise.reject(new Error('nobody was expected to be asked'));
const NOBODY: Prompts = {
  available: false,
  acknowledgeUnfinished: unasked,
  chooseEnd: unasked,
  chooseSession: unasked,
  confirm: unasked,
  chooseInstance: unasked,
  verifyPreserved: unasked,
};
