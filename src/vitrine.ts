/** Makes a Vitrine for a program: named mounts, methods that read, list and watch, and a fetch handler. */
import { createEngine, type Engine, type EngineOptions } from './engine/index.ts';
import { type Asking, createAsking } from './library/asking.ts';
import { mountsOf, type NamedMounts, type NextMounts, replaceMounts } from './library/mounts.ts';
import type { EndpointOptions } from './serving/http/endpoint.ts';
import { createEndpoint, type HttpEndpoint } from './serving/http/index.ts';

export { type ServerIdentity, VERSION } from './engine/index.ts';
export type { AskOptions } from './library/asking.ts';
export type { MountSettings, NamedMounts } from './library/mounts.ts';

export interface VitrineOptions extends Omit<EngineOptions, 'mounts'> {
  /** The mounts that are served: an object from mount names to providers, or a list of mounts. */
  readonly mounts: EngineOptions['mounts'] | NamedMounts;
  /** Options of `fetch`: allowed hosts and origins, tokens, limits. Default: only this machine may ask, without a token. */
  readonly endpoint?: EndpointOptions | undefined;
}

export interface Vitrine extends Omit<Engine, 'replaceMounts'>, Asking {
  /**
   * Replaces the mounts and folders of prompts. Subscribers are notified, and sessions go on. A mount whose provider is the same
   * object as before stays open; a provider that is missing in `next` is closed.
   * @throws ResourceError `invalid` if the mounts are ambiguous, or without the option `replaceable`; then nothing has changed
   */
  replaceMounts(next: NextMounts): Promise<void>;
  /**
   * Answers an MCP request over HTTP, in either era, as `createEndpoint` does with the options `endpoint`. It does not
   * use `this`, so it can be passed on as a function. A request without a `Host` header, as a program makes it, is for
   * the host in its URL.
   */
  readonly fetch: (request: Request) => Promise<Response>;
}

/**
 * Makes a Vitrine. It does not listen by itself: give it to `serveStdio` or `serveHttp`, hand requests to its `fetch`, or call
 * `read`, `list` and `watch`.
 *
 * @example
 * const vitrine = createVitrine({ mounts: { docs: await filesProvider({ path: './docs' }) } });
 * await serveStdio(vitrine);
 * @throws ResourceError `invalid` when mounts are ambiguous
 */
export function createVitrine(options: VitrineOptions): Vitrine {
  const engine = createEngine({ ...options, mounts: mountsOf(options.mounts) });
  let endpoint: HttpEndpoint | undefined;
  return {
    ...engine,
    ...createAsking(engine),
    replaceMounts: (next) => replaceMounts(engine, next),
    fetch(request) {
      endpoint ??= createEndpoint(engine, options.endpoint);
      return endpoint.fetch(withHost(request));
    },
    async close() {
      try {
        await endpoint?.close();
      } finally {
        await engine.close();
      }
    },
  };
}

function withHost(request: Request): Request {
  if (request.headers.has('host')) return request;
  const headers = new Headers(request.headers);
  headers.set('host', new URL(request.url).host);
  return new Request(request, { headers });
}
