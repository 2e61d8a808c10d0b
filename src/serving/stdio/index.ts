/** Serving one host over standard input and output, in whichever era it speaks. */
import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio';
import { type Log, SILENT } from '../../core/context.ts';
import type { Vitrine } from '../../vitrine.ts';
import { ListenTap } from '../modern/listen-tap.ts';
import { createSdkServer, serverContext } from '../sdk-server.ts';
import { connectionSubscriptions, type SubscriptionSink } from '../subscriptions.ts';
import { lastingInput } from './lasting-input.ts';
import { latestLine } from './unread-lines.ts';

export interface ServeStdioOptions {
  readonly log?: Log | undefined;
  /** Default: the process's own. */
  readonly input?: Readable | undefined;
  readonly output?: Writable | undefined;
}

export interface StdioServing {
  /** Resolves when the host has closed its end, or `close` was called, and everything of this connection has ended. */
  readonly closed: Promise<void>;
  /** Ends the connection. The engine stays open: it belongs to the caller. */
  close(): Promise<void>;
}

/** Serves the engine to the process at the other end of standard input and output. Logs never go there. */
export function serveStdio(vitrine: Vitrine, options: ServeStdioOptions = {}): StdioServing {
  const log = options.log ?? SILENT;
  const { input, release } = lastingInput(options.input ?? process.stdin, () => transport.idle);
  const wire = new StdioServerTransport(input, options.output);
  let server: Server | undefined;
  const undelivered = (error: unknown): void => log.debug('a notification was not delivered', { error });
  const peer = crypto.randomUUID();
  const sink: SubscriptionSink = {
    updated: (uri) => void server?.sendResourceUpdated({ uri }).catch(undelivered),
    listChanged: () => void server?.sendResourceListChanged().catch(undelivered),
    promptsChanged: () => void server?.sendPromptListChanged().catch(undelivered),
    toolsChanged: () => void server?.sendToolListChanged().catch(undelivered),
  };
  const subscriptions = connectionSubscriptions(vitrine, sink, peer);
  const connection = { log, subscriptions, peer };
  const transport = new ListenTap(
    wire,
    subscriptions,
    (declared) => serverContext(connection, declared),
    latestLine(input),
  );
  const handle = serveSdkStdio(
    ({ era }) => {
      server = createSdkServer(vitrine, { ...connection, era });
      return server;
    },
    { transport, onerror: (error) => log.debug('stdio', { error }) },
  );
  const ended = vitrine.telemetry?.opened('session', 'pipe');
  // The SDK has set its own handler by now; it goes first.
  const closeSdk = transport.onclose;
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      closeSdk?.();
      ended?.();
      release();
      subscriptions.close().then(resolve, resolve);
    };
  });
  return {
    closed,
    async close() {
      await handle.close();
      await closed;
    },
  };
}
