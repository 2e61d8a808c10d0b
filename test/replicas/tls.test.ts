/** Replicas over a Redis that accepts only TLS, with a certificate of an authority that only the configuration names. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { until } from '../e2e/waiting.ts';
import { authority, signed } from '../security/certificates.ts';
import { redis, startRedis } from '../services/redis.ts';
import { describeWith } from '../services/service.ts';
import { connectInTurn } from './in-turn.ts';
import { startVitrine } from './processes.ts';

const NOTE = 'docs+file:///note.txt';

// biome-ignore lint/suspicious/noTemplateCurlyInString: variables of the environment, as a configuration names them
const REFERRED = { keys: ['${KEYS}'], url: '${BUS}' };

describeWith([redis])('replicas over Redis with TLS', () => {
  it('share sessions if they name the authority of Redis, and do not connect if they name another one', async () => {
    const [ours, theirs] = [await authority(), await authority('Another Authority')];
    const { cert, key } = await signed(ours);
    await using folder = await temporaryFolder({
      'docs/note.txt': 'one',
      'ca.pem': ours.cert,
      'other.pem': theirs.cert,
      'cert.pem': cert,
      'key.pem': key,
    });
    await using server = await startRedis({ cert: folder.at('cert.pem'), key: folder.at('key.pem') });
    const env = { KEYS: randomBytes(32).toString('base64'), BUS: server.url };
    const start = async (ca: string) => {
      const bus = { url: REFERRED.url, ca };
      const config = { keys: REFERRED.keys, bus, mounts: { docs: './docs' } };
      const file = await writeConfig(folder, config, `with-${ca}.yaml`);
      return startVitrine(['--config', file, '--http', '0'], env);
    };
    await using one = await start('ca.pem');
    await using two = await start('ca.pem');
    const urls = [one, two].map(({ port }) => `http://127.0.0.1:${port}/mcp`);
    await using client = await connectInTurn(() => urls);
    await client.request('resources/subscribe', { uri: NOTE });
    await until(() => client.holder !== undefined, 'the stream');
    const before = client.updates.get(NOTE) ?? 0;
    await folder.write('docs/note.txt', 'two');
    await client.told(NOTE, before);
    for (const each of [one, two]) expect(each.errors()).not.toContain('the bus is away');

    await using stranger = await start('other.pem');
    await until(() => stranger.errors().includes('the bus is away'), 'a word about the bus');
    const ready = await fetch(`http://127.0.0.1:${stranger.port}/readyz`);
    expect(await ready.json()).toEqual({ status: 'ready', bus: 'away', rates: 'counted alone' });
    // The password that was never accepted is not in the log either.
    expect(stranger.errors()).not.toContain(decodeURIComponent(new URL(server.url).password));
  });

  it.each([
    [{ url: 'redis://127.0.0.1:1', ca: './ca.pem' }, 'is for an address with rediss:'],
    [{ url: 'rediss://127.0.0.1:1', ca: './missing.pem' }, 'cannot be read: there is no such file'],
    [{ url: 'rediss://127.0.0.1:1', ca: './large.pem' }, 'cannot be read: it has more than 1048576 bytes'],
    [{ url: 'http://127.0.0.1:1' }, 'is an address as in redis://host:6379'],
    [{ sentinels: ['http://127.0.0.1:1'], master: 'main' }, 'bus.sentinels: is an address as in redis://host:6379'],
    [{ sentinels: ['redis://127.0.0.1:1'], master: 'main', ca: './ca.pem' }, 'is for an address with rediss:'],
    [{ sentinels: ['redis://127.0.0.1:1'] }, 'bus.master'],
    [{ cluster: [] }, 'bus.cluster: names no server'],
    [{ cluster: ['redis://a:b@one', 'redis://c:d@two'] }, 'bus.cluster: has addresses with different users'],
    [{ cluster: ['redis://one'], url: 'redis://one' }, 'a bus has one of url, sentinels and cluster'],
  ])('report what is wrong with %j', async (bus, words) => {
    await using folder = await temporaryFolder({ 'docs/note.txt': 'one', 'large.pem': 'x'.repeat(1024 * 1024 + 1) });
    const config = { keys: [randomBytes(32).toString('base64')], bus, mounts: { docs: './docs' } };
    const file = await writeConfig(folder, config);
    await expect(startVitrine(['--config', file, '--http', '0'])).rejects.toThrow(words);
  });
});
