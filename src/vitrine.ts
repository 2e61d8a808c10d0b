/** The engine as a program has it: mounts by name, functions to ask it by, and a fetch handler. */
import { createEngine, type Engine, type EngineOptions } from './engine/index.ts';
import { type Asking, createAsking } from './library/asking.ts';
import { mountsOf, type NamedMounts } from './library/mounts.ts';
import type { EndpointOptions } from './serving/http/endpoint.ts';
import { createEndpoint, type HttpEndpoint } from './serving/http/index.ts';

export { type ServerIdentity, VERSION } from './engine/index.ts';
export type { AskOptions } from './library/asking.ts';
export type { MountSettings, NamedMounts } from './library/mounts.ts';

export interface VitrineOptions extends Omit<EngineOptions, 'mounts'> {
  /** The mounts that are served: providers by the names of their mounts, or mounts as a list. */
  readonly mounts: EngineOptions['mounts'] | NamedMounts;
  /** How `fetch` answers: which hosts and origins may ask, with which tokens, how much. Default: those of this machine, without. */
  readonly endpoint?: EndpointOptions | undefined;
}

export interface Vitrine extends Engine, Asking {
  /**
   * Answers a request of MCP over HTTP, in either era, as `createEndpoint` with the options `endpoint` does. It needs no `this`.
   * A request that was made here, and so has no `Host`, is for the host in its URL.
   */
  readonly fetch: (request: Request) => Promise<Response>;
}

/**
 * Makes a Vitrine. It listens to nothing by itself: give it to `serveStdio` or `serveHttp`, hand requests to its `fetch`, or
 * call `read`, `list` and `watch`.
 *
 * @example
 * const vitrine = createVitrine({ mounts: { docs: filesProvider({ root: './docs' }) } });
 * await serveStdio(vitrine);
 * @throws ResourceError `invalid` when mounts are ambiguous
 */
export function createVitrine(options: VitrineOptions): Vitrine {
  const engine = createEngine({ ...options, mounts: mountsOf(options.mounts) });
  let endpoint: HttpEndpoint | undefined;
  return {
    ...engine,
    ...createAsking(engine),
    fetch(request) {
      endpoint ??= createEndpoint(engine, options.endpoint);
      return endpoint.fetch(withHost(request));
    },
    async close() {
      await endpoint?.close();
      await engine.close();
    },
  };
}

function withHost(request: Request): Request {
  if (request.headers.has('host')) return request;
  const headers = new Headers(request.headers);
  headers.set('host', new URL(request.url).host);
  return new Request(request, { headers });
}
