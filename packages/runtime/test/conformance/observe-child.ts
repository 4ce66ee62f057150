import { readFile } from 'node:fs/promises';
import type { Manifest } from '@jackin/instance';
import { createScratch } from '../execute/support/scratch.ts';

/** Prints what the standalone backend observes from inside this process: ROOT MANIFEST_FILE. */
const [root, file] = process.argv.slice(2) as [string, string];
const manifest = JSON.parse(await readFile(file, 'utf8')) as Manifest;
const { backend } = await createScratch({ root });
const ref = { instance_id: manifest.instance_id, container_base: manifest.container_base, manifest };
const { engine, instances } = await backend.observe([ref], AbortSignal.timeout(10_000));
process.stdout.write(JSON.stringify({ engine, instances: [...instances] }));
