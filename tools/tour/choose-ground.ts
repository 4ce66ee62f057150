import { chooseBackend, type TourFinding } from './backend.ts';
import type { Jackin } from './command.ts';
import type { Ground } from './ground.ts';
import { dockerGround } from './ground-docker.ts';
import { standaloneGround } from './ground-standalone.ts';
import type { Scratch } from './scratch.ts';

/** Docker once an engine of this machine answers where the operator's jackin looks for one, else standalone. */
export async function chooseGround(jackin: Jackin, scratch: Scratch): Promise<Ground> {
  const { findings } = await jackin.askAboutEngine<{ findings: TourFinding[] }>(['doctor']);
  const choice = chooseBackend(findings);
  if (choice.backend === 'standalone') return standaloneGround(scratch, choice.because);
  const { engine: engines } = await jackin.askAboutEngine<{
    engine: { endpoint: string; state: string }[];
  }>(['status']);
  const found = engines.find(
    ({ endpoint, state }) => state === 'reachable' && endpoint.startsWith('unix://'),
  );
  if (found === undefined) return standaloneGround(scratch, 'the engine does not answer any more');
  return dockerGround(await scratch.useEngine(found.endpoint), scratch, choice.because);
}
