/** Asks nodes of a Redis cluster for the master of the slot that holds all keys of the bus. */
import type { RedisClusterAddress } from '../../../core/bus-address.ts';
import { askForPlace, type MasterAddress } from './asking.ts';
import { type Client, nameOf, type OpenClient, type Server, serverAt, unavailable } from './client.ts';
import type { Place } from './place.ts';

const PORT = 6379;

/** A range of slots: the first and last slot, and the host and port of each node that has them, the master first. */
type Slots = readonly [number, number, ...(readonly [string | null, number])[]];

export function clusterPlace({ cluster }: RedisClusterAddress, key: string, open: OpenClient): Place {
  const servers = cluster.map((url) => serverAt(url, PORT));

  async function ask(client: Client, server: Server): Promise<MasterAddress | undefined> {
    const answers = await Promise.all([
      client.sendCommand(['CLUSTER', 'KEYSLOT', key]),
      client.sendCommand(['CLUSTER', 'SLOTS']),
      client.sendCommand(['CLUSTER', 'INFO']),
    ]).catch((error: Error) => {
      if (!error.message.includes('cluster support disabled')) throw error;
      throw unavailable(
        `The server at ${nameOf(server)} is not in a cluster: give its address as bus.url, not as bus.cluster`,
        error,
      );
    });
    const [slot, ranges, info] = answers as readonly [number, readonly Slots[], string];
    // A node that is cut off from most of the others does not report `ok`.
    if (!info.includes('cluster_state:ok')) return undefined;
    const node = ranges.find(([first, last]) => first <= slot && slot <= last)?.[2];
    if (node === undefined) return undefined;
    const [host, port] = node;
    return {
      // A node without a host in the list does not know its own address. It is the node that was asked.
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
        none: 'The nodes of the cluster that answer say that it is down: not all of its slots are served, or these nodes are cut off',
      };
      const { host, port } = await askForPlace(asking, signal);
      const [{ user, password, tls } = { tls: false }] = servers as readonly Server[];
      return { host, port, user, password, tls };
    },
  };
}
