/** Listens for `NOTIFY` in PostgreSQL on its own connection, and connects again when that connection ends. */
import type { Client } from 'pg';
import type { Log } from '../../../core/context.ts';
import type { TableName, TellChanged } from '../dialect.ts';
import { postgresError, withoutClient } from './errors.ts';

/** Milliseconds between attempts to connect: the first wait, and the longest. The wait doubles each time. */
const RETRY_MS = { first: 250, most: 30_000 } as const;

export interface Listening {
  readonly connect: () => Client;
  readonly channel: string;
  readonly log: Log;
}

/**
 * Listens from the moment the promise resolves. The payload of a notification may name the changed table, as `orders`
 * or `sales.orders`. After any other payload, and after a lost connection, any table may have changed.
 * @throws ResourceError as `postgresError` makes it, such as `unavailable`
 */
export async function listen({ connect, channel, log }: Listening, tell: TellChanged): Promise<AsyncDisposable> {
  let ended = false;
  let current: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let waitMs: number = RETRY_MS.first;

  async function open(): Promise<void> {
    const client = connect();
    let lost = false;
    const isLost = (): void => {
      if (lost || ended || current !== client) return;
      lost = true;
      log.warn('the connection that tells of changes in the database was lost');
      again();
    };
    client.on('error', isLost);
    client.on('end', isLost);
    client.on('notification', ({ payload }) => tell(tablesIn(payload)));
    try {
      await client.connect();
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    if (ended) return await client.end();
    current = client;
    waitMs = RETRY_MS.first;
  }

  function again(): void {
    timer = setTimeout(() => {
      open().then(
        () => {
          if (!ended) tell(undefined);
        },
        (error: unknown) => {
          log.debug('the database does not answer yet', { error: withoutClient(error) });
          if (!ended) again();
        },
      );
    }, waitMs);
    timer.unref();
    waitMs = Math.min(waitMs * 2, RETRY_MS.most);
  }

  await open().catch((error: unknown) => {
    throw postgresError(error, undefined);
  });
  return {
    async [Symbol.asyncDispose]() {
      ended = true;
      clearTimeout(timer);
      await current?.end().catch(() => {});
    },
  };
}

const NAME = /^(?:([\p{L}_][\p{L}\p{N}_$]*)\.)?([\p{L}_][\p{L}\p{N}_$]*)$/u;

/** Returns the table that a payload names; undefined if it names none. */
function tablesIn(payload: string | undefined): readonly TableName[] | undefined {
  const [, schema = 'public', name] = NAME.exec(payload ?? '') ?? [];
  return name === undefined ? undefined : [{ schema, name }];
}
