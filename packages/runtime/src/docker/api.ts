import * as z from 'zod';

/**
 * The parts of the engine's answers that are used, checked: an engine is a program we do not control, and compatible
 * ones leave fields out. An answer of another shape is an error, never "nothing there".
 */
const labels = z.record(z.string(), z.string()).nullish();
const id = z.string().min(1);

export const containerListSchema = z.array(
  z.object({
    Id: id,
    Names: z.array(z.string()).nullish(),
    State: z.string(),
    ImageID: z.string().nullish(),
    Labels: labels,
    Created: z.number().nullish(),
  }),
);
export type ListedContainer = z.infer<typeof containerListSchema>[number];

export const imageListSchema = z.array(
  z.object({ Id: id, RepoTags: z.array(z.string()).nullish(), Labels: labels }),
);
export type ListedImage = z.infer<typeof imageListSchema>[number];

export const networkSchema = z.object({
  Id: id,
  Name: z.string(),
  Created: z.string().nullish(),
  Labels: labels,
});
export const networkListSchema = z.array(networkSchema);
export type ListedNetwork = z.infer<typeof networkSchema>;

export const volumeListSchema = z.object({
  Volumes: z.array(z.object({ Name: z.string(), Labels: labels })).nullish(),
});
export type ListedVolume = { Name: string; Labels?: Record<string, string> | null | undefined };

export const imageSchema = z.object({
  Id: id,
  RepoTags: z.array(z.string()).nullish(),
  Config: z.object({ Labels: labels }).nullish(),
});

export const infoSchema = z.object({
  ID: z.string().nullish(),
  KernelVersion: z.string().nullish(),
  ServerVersion: z.string().nullish(),
  OSType: z.string().nullish(),
  Architecture: z.string().nullish(),
  OperatingSystem: z.string().nullish(),
  CgroupDriver: z.string().nullish(),
  CgroupVersion: z.string().nullish(),
  MemoryLimit: z.boolean().nullish(),
  PidsLimit: z.boolean().nullish(),
  SecurityOptions: z.array(z.string()).nullish(),
  SystemTime: z.string().nullish(),
  /** Only Podman has it. */
  BuildahVersion: z.string().nullish(),
});
export type EngineInfo = z.infer<typeof infoSchema>;

export const containerSchema = z.object({
  Id: id,
  Name: z.string(),
  Image: z.string().nullish(),
  State: z.object({
    Status: z.string().nullish(),
    Running: z.boolean(),
    Paused: z.boolean().nullish(),
    Restarting: z.boolean().nullish(),
    Dead: z.boolean().nullish(),
    OOMKilled: z.boolean().nullish(),
    ExitCode: z.number().int().nullish(),
    Error: z.string().nullish(),
    StartedAt: z.string().nullish(),
    FinishedAt: z.string().nullish(),
  }),
  Config: z.object({ Labels: labels, User: z.string().nullish() }),
  HostConfig: z.object({
    Mounts: z
      .array(z.object({ Type: z.string(), Source: z.string().nullish(), Target: z.string() }))
      .nullish(),
  }),
  /** What is mounted, volumes of the image included. */
  Mounts: z.array(z.object({ Destination: z.string() })).nullish(),
  NetworkSettings: z
    .object({ Networks: z.record(z.string(), z.object({ NetworkID: z.string().nullish() })).nullish() })
    .nullish(),
});
export type InspectedContainer = z.infer<typeof containerSchema>;

export const changesSchema = z
  .array(z.object({ Path: z.string(), Kind: z.number().int() }))
  .nullable()
  .transform((changes) => changes ?? []);

/** A container's name without the slash the engine puts in front. */
export function plainName(name: string): string {
  return name.replace(/^\//, '');
}

/** Links make further names with a slash in them. */
export function namesOfListed({ Names }: ListedContainer): string[] {
  return (Names ?? []).map(plainName).filter((name) => !name.includes('/'));
}
