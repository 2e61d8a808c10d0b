/** Asks Redis sentinels for the address of the master. */
import type { RedisSentinelAddress } from '../../../core/bus-address.ts';
import { askForPlace, type MasterAddress } from './asking.ts';
import { type Client, type OpenClient, type Server, serverAt } from './client.ts';
import type { Place } from './place.ts';

const PORT = 26_379;

export function sentinelPlace(address: RedisSentinelAddress, open: OpenClient): Place {
  const { master, user, password, database } = address;
  const servers = address.sentinels.map((url) => serverAt(url, PORT));
  const tls = address.tls ?? servers.some((each) => each.tls);

  async function ask(client: Client): Promise<MasterAddress | undefined> {
    const [place, facts] = await Promise.all([
      client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master]),
      // The user of a sentinel may have no right to this command. Then the epoch is unknown.
      client.sendCommand(['SENTINEL', 'MASTER', master]).catch(() => []),
    ]);
    if (!Array.isArray(place)) return undefined;
    const fields = facts as readonly string[];
    const at = fields.indexOf('config-epoch');
    return { host: String(place[0]), port: Number(place[1]), epoch: at < 0 ? 0 : Number(fields[at + 1]) };
  }

  return {
    moves: true,
    sharded: false,
    async locate(signal): Promise<Server> {
      const asking = {
        open,
        servers,
        one: 'The sentinel',
        all: 'the sentinels',
        ask,
        none: `The sentinels know no master with the name ${master}`,
      };
      const { host, port } = await askForPlace(asking, signal);
      return { host, port, user, password, database, tls };
    },
  };
}
