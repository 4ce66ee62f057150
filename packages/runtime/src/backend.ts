import type { ExitRecord, Heartbeat } from '@jackin/capsule/protocol';
import type { Manifest, Recipe } from '@jackin/instance';

/** The engine itself. "Not reachable" and "another engine" are answers, never exceptions. */
export type EngineFact =
  | {
      state: 'reachable';
      endpoint: string;
      id: string | null;
      run: string | null;
      boot_id: string | null;
      /** User ids in its containers are others outside: root is whoever runs the engine. */
      rootless?: boolean | undefined;
    }
  | { state: 'unreachable'; endpoint: string; reason: string };

/**
 * Not when a part needed to start it again is gone (network, bind source); the reason names it. `anew`: a container
 * made anew would need it too.
 */
export type Startable = { ok: true } | { ok: false; reason: string; anew?: boolean | undefined };

/** One of our containers as the engine sees it now. For standalone: the capsule process. */
export type ContainerFact =
  | {
      state: 'running';
      name: string;
      engine_ref: string;
      image_id: string | null;
      oom_flag: boolean | null;
      started_run: string | null;
    }
  | {
      state: 'stopped';
      name: string;
      engine_ref: string;
      image_id: string | null;
      exit_code: number | null;
      oom_flag: boolean | null;
      error: string | null;
      startable: Startable;
    }
  | { state: 'missing' }
  /** A container of our name without our labels: never reused, removed or renamed. */
  | { state: 'foreign'; name: string }
  | { state: 'unreachable'; reason: string };

/** What the capsule itself says over its socket. `unknown` when it could not be asked. */
export type CapsuleFact =
  | { state: 'answers'; sessions: { session_id: string; agent: string; alive: boolean }[]; clients: number }
  | { state: 'silent'; reason: string }
  | { state: 'unknown'; reason: string };

export type ImageFact =
  | { state: 'present'; image_id: string }
  | { state: 'missing' }
  | { state: 'unknown'; reason: string };

/** A resource with our labels that no instance names. Listed, never removed by reconcile. */
export interface OrphanFact {
  kind: 'container' | 'sidecar' | 'network' | 'volume' | 'image_tag' | 'process';
  name: string;
  instance_id: string | null;
}

export interface InstanceObservation {
  container: ContainerFact;
  sidecar: ContainerFact | null;
  /** Image by recorded id; keep tag; what the recorded tag names now. */
  image: { by_id: ImageFact; by_keep_tag: ImageFact; by_tag: ImageFact } | null;
  network: 'present' | 'missing' | 'foreign' | 'unknown' | null;
  volume: 'present' | 'missing' | 'foreign' | 'unknown' | null;
  /** Processes of this instance that outlived the capsule (standalone). */
  leftover_pids: number[];
}

/** One look at everything: one container list and one image list, however many instances there are. */
export interface Inventory {
  engine: EngineFact;
  instances: Map<string, InstanceObservation>;
  orphans: OrphanFact[];
}

/** What identifies an instance to a backend; nothing else of the manifest may influence an observation. */
export interface InstanceRef {
  instance_id: string;
  container_base: string;
  manifest: Manifest;
}

export interface CapsuleEndpoint {
  /** Opens a byte stream to the capsule. Checked against links and foreign owners before connecting. */
  open(signal: AbortSignal): Promise<import('node:stream').Duplex>;
}

/** What an image was built on; absent where nothing was built. */
export interface ImageOrigin {
  /** Every image from outside that the build read. */
  bases?: ImageBase[];
  /** The one its last stage stands on. */
  base?: ImageBase | null;
}

export interface ImageBase {
  ref: string;
  /** `sha256:…` of a registry's manifest; null for an image that came from no registry. */
  digest: string | null;
  image_id: string;
}

export interface StartContext {
  ref: InstanceRef;
  recipe: Recipe;
  dirs: { data: string; home: string; state: string; sockets: string; agent_config: string };
  /** What of this host is where in the container, parents before children. */
  mounts: readonly MountPoint[];
  /** What git in the container needs to know about its trees. */
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

export interface MountPoint {
  source: string;
  target: string;
  readonly: boolean;
}

/** A program run to its end inside of an instance. */
export interface ProbeAnswer {
  /** Null: it could not be run, or was ended. */
  exit_code: number | null;
  /** The last of what it printed, both streams. */
  output: string;
}

/**
 * The engine port (docs/architecture.md#backends). Every call is bounded by its signal, idempotent, free of policy: 404 and 409
 * are answers. Nothing here removes what lacks our identity. Errors are JackinError with codes of docs/errors.md.
 */
export interface Backend {
  readonly kind: 'docker' | 'standalone';
  observe(refs: InstanceRef[], signal: AbortSignal): Promise<Inventory>;
  /** Asks the capsule over its own protocol, read-only. */
  capsule(ref: InstanceRef): CapsuleEndpoint;
  /** Network, volume, sidecar, container: created if missing, left alone if there. Standalone: directories only. */
  create(context: StartContext): Promise<{ created: string[]; image_id: string | null } & ImageOrigin>;
  /** Starts container (or process) and resolves when the capsule answers. Returns what to record. */
  start(
    context: StartContext,
  ): Promise<{ engine: EngineFact; standalone?: NonNullable<Manifest['backend']>['standalone'] }>;
  /** Runs a program in the running container, as its user; how it ends is an answer. */
  probe(
    ref: InstanceRef,
    what: { argv: readonly string[]; cwd: string; env: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<ProbeAnswer>;
  /** Ends the container in good order, then by force after `graceMs`; resolves when it is stopped. */
  stop(ref: InstanceRef, graceMs: number, signal: AbortSignal): Promise<void>;
  /** Ends processes of this instance that outlived the capsule. Standalone only; docker: nothing. */
  endLeftovers(ref: InstanceRef, signal: AbortSignal): Promise<number[]>;
  /**
   * Removes the stopped container, sidecar, network and volume with our labels; a running one is refused. `put_aside`:
   * the containers a restore renamed, which only a clean-up takes.
   */
  remove(
    ref: InstanceRef,
    what: 'container' | 'put_aside' | 'sidecar' | 'network' | 'volume' | 'keep_tag' | 'image',
    signal: AbortSignal,
  ): Promise<'removed' | 'absent'>;
  rename(ref: InstanceRef, to: string, signal: AbortSignal): Promise<void>;
  pinImage(ref: InstanceRef, imageId: string, signal: AbortSignal): Promise<void>;
  /** Paths changed in the writable layer; null where there is no such layer. */
  changedPaths(ref: InstanceRef, signal: AbortSignal): Promise<string[] | null>;
  /** The backend's part of doctor. */
  doctor(signal: AbortSignal): Promise<Finding[]>;
}

export interface Finding {
  check: string;
  severity: 'ok' | 'info' | 'warning' | 'error';
  message: string;
  hint?: string;
}

/** The capsule's own files, read as untrusted input. */
export interface StateFiles {
  exit_record:
    | { state: 'present'; record: ExitRecord }
    | { state: 'absent' }
    | { state: 'unreadable'; reason: string };
  heartbeat:
    | { state: 'present'; heartbeat: Heartbeat }
    | { state: 'absent' }
    | { state: 'unreadable'; reason: string };
}
