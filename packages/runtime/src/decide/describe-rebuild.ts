import type { Recipe } from '@jackin/instance';
import * as z from 'zod';

const baseRecord = z.looseObject({
  ref: z.string(),
  digest: z.string().nullish(),
  image_id: z.string().nullish(),
});

export interface RebuildNeeds {
  /** One sentence per thing a rebuild of the same image would need, recorded or not. */
  lines: string[];
  /** What is not recorded; with any of these the same image cannot be built again. */
  missing: string[];
}

/** What building the image of a recipe once more would take (docs/status-and-causes.md#ladder). Pure. */
export function describeRebuild(recipe: Recipe): RebuildNeeds {
  const { role, build } = recipe;
  const missing: string[] = [];
  const need = (what: string, recorded: string | null): string => {
    if (recorded !== null) return `${what}: ${recorded}`;
    missing.push(what);
    return `${what}: not recorded`;
  };
  const pin = role.commit
    ? `commit ${role.commit}`
    : role.content_hash
      ? `content ${role.content_hash}`
      : null;
  const bases = basesOf(recipe);
  const args = Object.entries(build?.args ?? {});
  const lines = [
    need(`the role ${role.source}`, pin),
    need('its Dockerfile', role.dockerfile ?? null),
    ...(bases.length === 0
      ? [need('the base image', null)]
      : bases.map(({ ref, digest, image_id: id }) =>
          need(`the base image ${ref}`, digest ? `digest ${digest}` : id ? `id ${id}` : null),
        )),
    need(
      'the build arguments',
      build ? (args.length === 0 ? 'none' : args.map(([name, value]) => `${name}=${value}`).join(' ')) : null,
    ),
    need('the user', recipe.run.user ?? null),
  ];
  return { lines, missing };
}

/** All of them where they are recorded, else the one of the last stage. */
function basesOf(recipe: Recipe) {
  const all = z.array(baseRecord).safeParse(recipe.build?.bases);
  if (all.success && all.data.length > 0) return all.data;
  return recipe.base ? [recipe.base] : [];
}
