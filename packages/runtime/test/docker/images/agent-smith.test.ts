import { expect, it } from '@jest/globals';
import { describeOnEngine } from '../../../../../tools/docker-lab/suite.ts';
import { createEngineClient } from '../../../src/docker/engine.ts';
import { imagesIn, launchOf, scratch } from './support.ts';

/** A hundred packages from a mirror, on a machine that does other things too. */
const TEST_MS = 600_000;
const CHECK = `
for tool in git curl rg jq ssh gcc make python3 node less unzip; do
  command -v $tool >/dev/null || { echo "no $tool"; exit 1; }
done
test "$HOME" = /home/agent && test "\${PATH%%:*}" = "$HOME/.local/bin"`;

await describeOnEngine('disaster', 'The image of the shipped role agent-smith', (lab) => {
  it(
    'has what a newcomer expects, for any user',
    async () => {
      const { dir, dispose } = await scratch();
      try {
        const { images } = imagesIn(dir);
        const engine = createEngineClient({ kind: 'unix', path: lab().socket });
        const launch = launchOf('builtin:agent-smith', '4242:4242', undefined, AbortSignal.timeout(TEST_MS));
        const { image_id: Image } = await images.ensure(engine, launch);
        const container = await lab().docker.createContainer({ Image, Cmd: ['bash', '-c', CHECK] });
        await container.start();
        expect(await container.wait()).toMatchObject({ StatusCode: 0 });
      } finally {
        await dispose();
      }
    },
    TEST_MS,
  );
});
