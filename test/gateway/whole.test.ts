/** Each message of a gateway with one server is that of the server, except for the differences in `fixture/meant.ts`. */
import { afterAll, describe, expect, it } from 'vitest';
import { DIAGONAL, ERAS, type Era, MATRIX, TRANSPORTS } from '../e2e/harness.ts';
import { answering } from './fixture/client.ts';
import { type Difference, differences, type NormalScene, normalize } from './fixture/compare.ts';
import { connectDirectly, connectThrough, type GatewayOptions, type Way } from './fixture/link.ts';
import { type Eras, MEANT, type Meant } from './fixture/meant.ts';
import { PREFIXED, publishScene } from './fixture/publish.ts';
import { record, SAME } from './fixture/transcript.ts';

const used = new Set<Meant>();
const direct = new Map<Era, Promise<Recorded>>();

interface Recorded {
  readonly scenes: readonly NormalScene[];
  readonly told: readonly string[];
}

/** Records the fixture's answers to a client of an era. They are the same over each transport (`fixture.test.ts`). */
function directly(era: Era): Promise<Recorded> {
  const known = direct.get(era) ?? recordDirectly(era);
  direct.set(era, known);
  return known;
}

async function recordDirectly(era: Era): Promise<Recorded> {
  await using on = await connectDirectly({ transport: 'stdio', era }, answering().abilities);
  const { scenes, told } = await record(on);
  return { scenes: scenes.map(normalize), told };
}

async function through(client: Way, upstream: Way, options: GatewayOptions): Promise<Recorded> {
  await using on = await connectThrough(client, upstream, options, answering().abilities);
  const { scenes, told } = await record(on, options.prefix === 'none' ? SAME : PREFIXED);
  return { scenes: scenes.map(normalize), told };
}

/** The differences that are not intended. */
function unmeant(expected: readonly NormalScene[], got: readonly NormalScene[], eras: Eras): readonly Difference[] {
  return differences(expected, got).filter((difference) => {
    const meant = MEANT.filter(({ is }) => is(difference, eras));
    for (const each of meant) used.add(each);
    return meant.length === 0;
  });
}

const UPSTREAMS = TRANSPORTS.flatMap((over) => ERAS.map((speaking) => ({ over, speaking })));

describe.concurrent.each(MATRIX)('[CB-1] a client over $transport, $era', (client) => {
  it.each(UPSTREAMS)('gets everything of a server over $over, $speaking', async ({ over, speaking }) => {
    const got = await through(client, { transport: over, era: speaking }, { prefix: 'none' });
    const expected = await directly(client.era);
    expect(
      unmeant(expected.scenes, got.scenes, { client: client.era, over: client.transport, upstream: speaking }),
    ).toEqual([]);
    expect(got.told).toEqual(expected.told);
  });
});

describe.concurrent.each(DIAGONAL)('[CB-1] a client over $transport, $era', (client) => {
  it.each(UPSTREAMS)('gets everything of a server over $over, $speaking, with a prefix', async ({ over, speaking }) => {
    const got = await through(client, { transport: over, era: speaking }, {});
    const expected = await directly(client.era);
    const moved = expected.scenes.map(publishScene);
    expect(unmeant(moved, got.scenes, { client: client.era, over: client.transport, upstream: speaking })).toEqual([]);
    expect(got.told).toEqual(expected.told.map(PREFIXED.uri).sort());
  });
});

afterAll(() => {
  expect(MEANT.filter((each) => !used.has(each)).map(({ why }) => why)).toEqual([]);
});
