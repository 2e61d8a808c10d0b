/** An engine with telemetry behind HTTP, in this process, and its clients. */
import type { Bus } from '../../src/core/bus.ts';
import { createVitrine, type Mount, type Tool } from '../../src/index.ts';
import { startTelemetry, type TelemetrySetup } from '../../src/layers/telemetry/index.ts';
import { type HttpOptions, type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import type { Vitrine } from '../../src/vitrine.ts';
import { type Connected, connectHttp, type Era } from '../e2e/harness.ts';

export interface Observed extends AsyncDisposable {
  readonly serving: HttpServing;
  readonly vitrine: Vitrine;
  client(era: Era): Promise<Connected>;
  /** Sends the server a request that is not MCP. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Ends the telemetry, which sends everything that is left. */
  flush(): Promise<boolean>;
}

export interface ObservedOptions {
  readonly mounts: readonly Mount[];
  readonly tools?: readonly Tool[];
  readonly setup: TelemetrySetup;
  readonly http?: HttpOptions;
  /** Connects it with other replicas; it is closed with the engine. */
  readonly bus?: Bus;
  readonly keys?: readonly Uint8Array[];
  /** Who may see the metrics. */
  readonly metrics?: { readonly token?: string; readonly open?: boolean };
}

export async function observe({ mounts, tools, setup, http, metrics, bus, keys }: ObservedOptions): Promise<Observed> {
  const running = await startTelemetry(setup);
  const access = http?.auth === undefined ? {} : { access: { rules: [{ effect: 'allow', who: 'anyone' }] } as const };
  const vitrine = createVitrine({ mounts, tools, telemetry: running.telemetry, bus, keys, ...access });
  const render = running.prometheus;
  const serving = await serveHttp(vitrine, {
    port: 0,
    ...http,
    ...(render !== undefined && { metrics: { render, ...metrics } }),
  });
  const clients: Connected[] = [];
  const server = { url: serving.url, process: process as never, output: () => '' };
  return {
    serving,
    vitrine,
    async client(era) {
      const connected = await connectHttp(era, server);
      clients.push(connected);
      return connected;
    },
    get: (path, headers = {}) => fetch(new URL(path, serving.url), { headers }),
    flush: () => running.close(),
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close();
      await serving.close();
      await vitrine.close();
      await bus?.close();
      await running.close();
    },
  };
}
