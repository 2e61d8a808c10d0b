/** One command for one server of Redis. */
import { createClient, ErrorReply } from '@redis/client';

/** A server that changes its role breaks connections, once or twice. */
const ATTEMPTS = 3;

/** Its copies share one class, which takes the package tens of milliseconds to make. */
const template = createClient({ RESP: 2, disableClientInfo: true });

export async function ask(url: string, command: readonly string[]): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const client = template.duplicate({ url, socket: { reconnectStrategy: false } });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.sendCommand([...command]);
    } catch (error) {
      if (error instanceof ErrorReply || attempt === ATTEMPTS) throw error;
    } finally {
      client.destroy();
    }
  }
}
