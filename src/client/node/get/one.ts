/** Writes one resource to one file: fetches it only if necessary, and writes it only if it differs. */
import { createHash } from 'node:crypto';
import type { ResourceClient } from '../../client.ts';
import { ResourceClientError } from '../../errors.ts';
import { isListable, type ListedResource } from '../../shapes.ts';
import type { Draft, Files } from './disk.ts';
import type { ManifestEntry } from './manifest.ts';
import { CHANGED, type PieceOptions, piecesOf } from './pieces.ts';
import type { GetEntry } from './report.ts';

export interface Order {
  readonly resource: ListedResource;
  readonly path: readonly string[];
  /** The manifest entry of an earlier run. */
  readonly known: ManifestEntry | undefined;
  /** Whether an interrupted earlier run has fetched it. */
  readonly recent: boolean;
}

export interface OneSetup {
  readonly client: ResourceClient;
  readonly files: Files;
  /** Begins a file; undefined in a dry run. */
  readonly draft: (() => Promise<Draft>) | undefined;
  readonly options: PieceOptions & { readonly force: boolean; readonly fresh: boolean };
  /** Counts bytes. @throws the error that ends the run */
  readonly count: (bytes: number) => void;
  /** Saves the manifest entry of a file, after it was written or found to be the same. */
  readonly keep: (entry: ManifestEntry) => Promise<void>;
}

/** @throws ResourceClientError, errors of the disk */
export async function getOne(setup: OneSetup, order: Order): Promise<GetEntry> {
  const { files, draft, options } = setup;
  const { resource, path, known } = order;
  const { uri } = resource;
  const state = await stateOf(files, path, known);
  if (state === 'other' && !options.force) {
    throw new ResourceClientError('invalid', 'A file or folder that get has not written is in the way', { uri });
  }
  const named = { uri, path: path.join('/') };
  if (state === 'own' && known !== undefined && isCurrent(order, options.fresh)) {
    return { ...named, status: 'unchanged', size: known.size, sha256: known.sha256 };
  }
  if (draft === undefined) return { ...named, status: 'planned', size: resource.size };
  for (let attempt = 1; ; attempt++) {
    await using held = hold(await draft());
    try {
      const got = await fill(setup, resource, held.draft);
      if (got === undefined) return { uri, status: 'skipped', reason: 'It has no contents of its own' };
      const { size, sha256 } = got;
      const same = state === 'own' && known?.sha256 === sha256;
      const mtimeMs = same ? known.mtimeMs : await held.draft.commit(path, state !== 'none');
      const { lastModified } = resource.annotations ?? {};
      await setup.keep({
        uri,
        path,
        name: resource.name,
        ...(resource.mimeType !== undefined && { mimeType: resource.mimeType }),
        ...(typeof lastModified === 'string' && { lastModified }),
        ...(resource.size !== undefined && { listedSize: resource.size }),
        size,
        sha256,
        mtimeMs,
      });
      return { ...named, status: same ? 'unchanged' : 'written', size, sha256 };
    } catch (error) {
      const changed = error instanceof ResourceClientError && error.message === CHANGED;
      if (!changed || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Attempts for a resource that changes while it is read. */
const MAX_ATTEMPTS = 3;

const hold = (draft: Draft): { readonly draft: Draft } & AsyncDisposable => ({
  draft,
  [Symbol.asyncDispose]: () => draft.discard(),
});

async function fill(
  { client, options, count }: OneSetup,
  resource: ListedResource,
  draft: Draft,
): Promise<{ readonly size: number; readonly sha256: string } | undefined> {
  const hash = createHash('sha256');
  let size = 0;
  let any = false;
  // The bytes are not compared with `resource.size`: a URI of lines (`#L1-L5`) has fewer than its resource.
  for await (const { bytes } of piecesOf(client, resource.uri, resource.size, options)) {
    any = true;
    count(bytes.length);
    size += bytes.length;
    hash.update(bytes);
    await draft.write(bytes);
  }
  return any || isListable(resource) === false ? { size, sha256: hash.digest('hex') } : undefined;
}

/** Returns whether the path is free, has the file of an earlier run, or has something else. */
async function stateOf(
  files: Files,
  path: readonly string[],
  known: ManifestEntry | undefined,
): Promise<'none' | 'own' | 'other'> {
  const found = await files.at(path);
  if (found === 'none' || found === 'other') return found;
  if (known === undefined || found.size !== known.size) return 'other';
  return found.mtimeMs === known.mtimeMs || (await files.hashOf(path)) === known.sha256 ? 'own' : 'other';
}

/** Whether no request is needed: the server says that nothing has changed, or the interrupted run has fetched it. */
function isCurrent({ resource, known, recent }: Order, fresh: boolean): boolean {
  if (fresh || known === undefined) return false;
  const { lastModified } = resource.annotations ?? {};
  const same = known.listedSize === resource.size && known.lastModified === lastModified;
  return same && (recent || lastModified !== undefined);
}
