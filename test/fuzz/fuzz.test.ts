/** The fuzzer, for a number of cases. `npm run fuzz -- --cases 2000000` runs more. */
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { CLI } from '../e2e/harness.ts';
import { makePlace, type Place } from './place.ts';
import { fuzz, ROUND } from './run.ts';
import { endpointTarget } from './targets/endpoint.ts';
import { socketsTarget } from './targets/sockets.ts';
import { type StdioTarget, stdioTarget } from './targets/stdio.ts';
import { templatesTarget } from './targets/templates.ts';

const byHand = process.env.VITRINE_FUZZ_CASES !== undefined;
const cases = Number(process.env.VITRINE_FUZZ_CASES ?? ROUND / 2);
/** `npm run fuzz` takes a new seed. Among the other tests the seed is fixed, so each change runs the same cases. */
const seed = Number(process.env.VITRINE_FUZZ_SEED ?? (byHand ? randomInt(2 ** 31) : 20_260_728));
const only = process.env.VITRINE_FUZZ_ONLY;
/** Milliseconds: 50 for each case, far more than a case takes, and a minute for the start. */
const timeout = 60_000 + cases * 50;

let place: Place;
let folder: Folder;
let stdio: StdioTarget;

beforeAll(async () => {
  place = await makePlace();
  folder = await temporaryFolder({ 'far/a.md': 'far' });
  const config = await writeConfig(folder, {
    mounts: { docs: place.scene.root, far: { command: process.execPath, args: [CLI, 'serve', folder.at('far')] } },
    limits: { pageSize: 3 },
  });
  stdio = stdioTarget(place, [config]);
});

afterAll(async () => {
  await stdio?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

it(`no message, URI, cursor, template or header causes a crash, a hang, a leak or growth (seed ${seed})`, {
  timeout,
}, async () => {
  const all = [endpointTarget(place), templatesTarget(), socketsTarget(place), stdio];
  const targets = all.filter(({ name }) => only === undefined || name === only);
  const started = Date.now();
  const progress = (done: number): void => {
    if (byHand && (done / ROUND) % 20 === 0) {
      process.stderr.write(
        `${done} of ${cases} cases, ${Math.round(done / ((Date.now() - started) / 1_000))} a second\n`,
      );
    }
  };
  await fuzz(place, targets, { seed, cases, progress });
});
