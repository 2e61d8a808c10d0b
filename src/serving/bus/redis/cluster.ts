/** Asks nodes of a Redis cluster which one is the master of the slot that the keys of a bus have in common. */
import type { RedisClusterAddress } from '../../../core/bus-address.ts';
import { askForPlace, type Known } from './asking.ts';
import { type Client, nameOf, type OpenClient, type Server, serverAt, unavailable } from './client.ts';
import type { Place } from './place.ts';

const PORT = 6379;

/** First and last slot, and the nodes that have them, the master first, each with its host and port. */
type Slots = readonly [number, number, ...(readonly [string | null, number])[]];

export function clusterPlace({ cluster }: RedisClusterAddress, key: string, open: OpenClient): Place {
  const servers = cluster.map((url) => serverAt(url, PORT));

  async function ask(client: Client, server: Server): Promise<Known | undefined> {
    const answers = await Promise.all([
      client.sendCommand(['CLUSTER', 'KEYSLOT', key]),
      client.sendCommand(['CLUSTER', 'SLOTS']),
      client.sendCommand(['CLUSTER', 'INFO']),
    ]).catch((error: Error) => {
      if (!error.message.includes('cluster support disabled')) throw error;
      throw unavailable(`The server at ${nameOf(server)} is not in a cluster: bus.url names such a server`, error);
    });
    const [slot, ranges, info] = answers as readonly [number, readonly Slots[], string];
    // A node that is cut off from most of the others says so.
    if (!info.includes('cluster_state:ok')) return undefined;
    const node = ranges.find(([first, last]) => first <= slot && slot <= last)?.[2];
    if (node === undefined) return undefined;
    const [host, port] = node;
    return {
      // A node that does not know how others reach it gives no host.
      host: host === null || host === '' ? server.host : host,
      port,
      epoch: Number(/cluster_current_epoch:(\d+)/.exec(info)?.[1] ?? 0),
    };
  }

  return {
    moves: true,
    sharded: true,
    async locate(signal): Promise<Server> {
      const asking = {
        open,
        servers,
        one: 'The node',
        all: 'the nodes of the cluster',
        ask,
        none: 'The cluster is down: not all of its slots are served',
      };
      const { host, port } = await askForPlace(asking, signal);
      const [{ user, password, tls } = { tls: false }] = servers as readonly Server[];
      return { host, port, user, password, tls };
    },
  };
}
