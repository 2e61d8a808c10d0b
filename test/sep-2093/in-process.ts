/** A taught server without an SDK or a wire: everything with request handlers can be taught. */
import type { ResourceHierarchy } from 'vitrine/sep-2093';
import { serveResourceHierarchy } from 'vitrine/sep-2093';

export type Data = Readonly<Record<string, unknown>>;
export type Request = (method: string, params: Data) => Promise<Data>;

export interface Taught {
  readonly capabilities: Data;
  readonly request: Request;
}

interface Schemas {
  readonly params: { parse(params: unknown): unknown };
}

export function teach(hierarchy: ResourceHierarchy): Taught {
  const handlers = new Map<string, Request>();
  let capabilities: Data = {};
  serveResourceHierarchy(
    {
      registerCapabilities(declared) {
        capabilities = declared;
      },
      setRequestHandler(
        method: string,
        { params }: Schemas,
        handler: (params: unknown, extra: object) => Promise<Data>,
      ) {
        handlers.set(method, async (_method, given) => handler(params.parse(given), {}));
      },
    },
    hierarchy,
  );
  return {
    capabilities,
    async request(method, params) {
      const handler = handlers.get(method);
      if (handler === undefined) throw Object.assign(new Error('Method not found'), { code: -32_601 });
      return handler(method, params);
    },
  };
}
