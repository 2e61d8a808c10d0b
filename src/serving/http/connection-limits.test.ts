/** The number of connections that are accepted if none is configured. */
import { afterEach, describe, expect, it } from 'vitest';
import { memoryProvider } from '../../providers/memory/index.ts';
import { createVitrine, type Vitrine } from '../../vitrine.ts';
import { createEndpointCore, type EndpointCore, type HttpLimits } from './endpoint.ts';

let vitrine: Vitrine;
let core: EndpointCore;

afterEach(async () => {
  await core.close();
  await vitrine.close();
});

function connections(limits: Partial<HttpLimits>): number {
  vitrine = createVitrine({ mounts: [{ name: 'm', provider: memoryProvider({ resources: {} }), prefix: 'name' }] });
  core = createEndpointCore(vitrine, { limits });
  return core.limits.maxConnections;
}

describe('connections', () => {
  it('have a limit that leaves room for all sessions, all streams and short requests', () => {
    expect(connections({})).toBe(4_096);
  });

  it.each(['maxStreams', 'maxSessions'] as const)('have a higher limit if `%s` is higher', (name) => {
    expect(connections({ [name]: 10_000 })).toBeGreaterThan(12_000);
  });

  it('have the configured limit, whatever the other limits are', () => {
    expect(connections({ maxStreams: 10_000, maxConnections: 5 })).toBe(5);
  });
});
