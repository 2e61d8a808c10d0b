/** Functions with which a page or a worker uses a server. The test bundles them for browsers. */
import { createResourceClient, type ResourceClient } from 'vitrine/client';

export type Era = 'legacy' | 'modern';

const negotiation = { legacy: { mode: 'legacy' }, modern: { mode: { pin: '2026-07-28' } } } as const;

export const open = (url: string, era: Era): ResourceClient =>
  createResourceClient({ url, clientOptions: { versionNegotiation: negotiation[era] } });

export interface Sight {
  readonly era: string;
  readonly listed: readonly string[];
  readonly walked: readonly string[];
  readonly text: string | undefined;
  readonly bytes: readonly number[] | undefined;
  readonly described: { readonly name: string; readonly size: number | undefined; readonly source: string };
  /** The code of the error for a missing resource. */
  readonly missing: unknown;
}

export async function look(url: string, era: Era): Promise<Sight> {
  await using resources = open(url, era);
  const facts = await resources.connect();
  const listed: string[] = [];
  for await (const { uri } of resources.list('file:///')) listed.push(uri);
  const walked: string[] = [];
  for await (const { resource, depth } of resources.walk()) walked.push(`${depth} ${resource.uri}`);
  const text = await resources.read('file:///guide/tides.txt');
  const blob = await resources.read('file:///dot.png');
  const { resource, source } = await resources.metadata('file:///guide/tides.txt');
  const missing = await resources.read('file:///gone').catch((error: { readonly code?: unknown }) => error.code);
  return {
    era: facts.era,
    listed,
    walked,
    text: text.primary?.text(),
    bytes: blob.primary && [...blob.primary.bytes()],
    described: { name: resource.name, size: resource.size, source },
    missing,
  };
}
