/** Serves a site for a test, and reads it through the provider of web resources. */
import { chunksOf } from '../../../src/core/body.ts';
import { createContext } from '../../../src/core/context.ts';
import type { ReadOptions, ResourceProvider } from '../../../src/core/provider.ts';
import type { Resource } from '../../../src/protocol/resources.ts';
import { type HttpOptions, httpProvider } from '../../../src/providers/http/index.ts';
import { type Answer, type Site, startSite, type Tls } from './site.ts';

export const ctx = createContext();

export interface Web extends AsyncDisposable {
  readonly provider: ResourceProvider;
  readonly site: Site;
}

/** Starts a site, and opens a provider with the options that `options` gives for the site. */
export async function serveWeb(options: (site: Site) => HttpOptions, answer?: Answer, tls?: Tls): Promise<Web> {
  const site = await startSite(answer, tls);
  const provider = await httpProvider(options(site)).catch(async (error: unknown) => {
    await site.close();
    throw error;
  });
  return {
    provider,
    site,
    async [Symbol.asyncDispose]() {
      await provider.close?.();
      await site.close();
    },
  };
}

export interface Got {
  readonly resource: Resource;
  readonly text: string;
}

export async function get(provider: ResourceProvider, uri: string, want: Partial<ReadOptions> = {}): Promise<Got> {
  const [body] = await provider.read(uri, { maxBytes: 64 * 1024 * 1024, maxChildren: 10, ...want }, ctx);
  if (body === undefined) throw new Error(`${uri} has no body`);
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of chunksOf(body.content)) chunks.push(chunk);
    return { resource: body.resource, text: Buffer.concat(chunks).toString('utf8') };
  } finally {
    await body.close?.();
  }
}
