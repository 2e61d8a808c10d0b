/** Writes resources of a server to files in a folder: all resources, or some and all below them. A later run updates the files. */

import { DIRECTORY_MIME_TYPE } from '../../../protocol/resources.ts';
import type { ResourceClient } from '../../client.ts';
import { ResourceClientError } from '../../errors.ts';
import { isListable, type ListedResource } from '../../shapes.ts';
import type { WalkEntry, WalkVerdict } from '../../walk.ts';
import { keptNames } from './acting.ts';
import { ahead } from './ahead.ts';
import { lookAtDisk, openDisk } from './disk.ts';
import { addEntry, checkHead, type Manifest, type ManifestHead, readManifest, writeManifest } from './manifest.ts';
import { getOne, type OneSetup } from './one.ts';
import { createPlacement } from './placement.ts';
import { DEFAULT_MAX_FILE_BYTES, DEFAULT_MAX_RESOURCES, type GetOptions, type GetReport, MAX_GONE } from './report.ts';
import { createRun, OVER_TOTAL, type Run } from './run.ts';
import { createWanted, type Wanted } from './wanted.ts';

export type { GetEntry, GetOptions, GetProgress, GetReport, GetStatus } from './report.ts';

/**
 * Writes resources to files below a folder. A second run into the same folder reads only what changed, and an interrupted run
 * can be continued. Names that lead out of the folder and names that tools act on are escaped, links are not followed, and
 * files that `get` has not written are left alone, unless `force` is set.
 * @param start a URI, or several; undefined for all that the server has
 * @param folder is created if it does not exist
 * @throws ResourceClientError: the server's error for a start; `invalid` for a folder that holds something else, for a name in
 *   `keepNames` on which no tool acts, and for a malformed glob. Also throws the reason of the signal, and errors of the disk.
 *   An error of a single resource is not thrown: `onEntry` gets it.
 */
export async function getResources(
  client: ResourceClient,
  start: string | readonly string[] | undefined,
  folder: string,
  options: GetOptions = {},
): Promise<GetReport> {
  const keep = keptNames(options.keepNames ?? []);
  const starts = start === undefined ? [] : typeof start === 'string' ? [start] : start;
  const top = starts.length === 1 ? starts[0] : undefined;
  const wanted = createWanted(top, options);
  const { name: server = null } = await client.connect(options.signal);
  await using disk = options.dryRun === true ? undefined : await openDisk(folder, options.force === true);
  const files = disk ?? (await lookAtDisk(folder, options.force === true));
  const manifest = await readManifest(files.folder);
  const head: ManifestHead = { vitrineGet: 1, server, start: starts };
  checkHead(manifest.head, head);
  const placement = createPlacement(top, keep);
  for (const [uri, { path }] of manifest.entries) if (!placement.keep(uri, path)) manifest.entries.delete(uri);
  const writeAll = async (...how: [recent: ReadonlySet<string>, ended: boolean]): Promise<void> => {
    if (disk !== undefined) await writeManifest(disk.folder, head, manifest.entries.values(), ...how);
  };
  await writeAll(manifest.unfinished, false);

  const run = createRun(options);
  const setup: OneSetup = {
    client,
    files,
    draft: disk?.draft,
    options: {
      accept: options.accept,
      maxBytes: options.maxBytes ?? DEFAULT_MAX_FILE_BYTES,
      timeoutMs: options.timeoutMs,
      signal: run.signal,
      force: options.force === true,
      fresh: options.fresh === true,
    },
    count: run.count,
    async keep(entry) {
      manifest.entries.set(entry.uri, entry);
      await addEntry(files.folder, entry);
    },
  };
  const seen = new Set<string>();

  async function take(resource: ListedResource): Promise<void> {
    const { uri } = resource;
    const container = isListable(resource) === true;
    // A folder has no contents of its own, only children.
    if (resource.mimeType === DIRECTORY_MIME_TYPE) run.done({ uri, status: 'skipped', reason: 'It is a folder' });
    else {
      const order = (): Parameters<typeof getOne>[1] => ({
        resource,
        path: placement.place(uri, container),
        known: manifest.entries.get(uri),
        recent: manifest.unfinished.has(uri),
      });
      await run.start(async () => getOne(setup, order()), uri, container);
    }
  }

  /** Gives each wanted resource once. */
  async function* found(): AsyncGenerator<ListedResource, void, undefined> {
    for await (const resource of below(client, starts, run, wanted, options, seen)) {
      if (seen.has(resource.uri)) continue;
      seen.add(resource.uri);
      run.found();
      yield resource;
    }
    run.foundAll();
  }

  let ended = false;
  try {
    for await (const resource of ahead(found(), MAX_AHEAD)) await take(resource);
    await run.settle();
    ended = true;
  } catch (error) {
    if (error !== OVER_TOTAL) throw error;
  } finally {
    await run.settle().catch(() => {});
    if (ended) await writeAll(new Set(), true);
  }
  return reportOf(run, manifest, seen, wanted, { folder: files.folder, start: starts });
}

/** The most found resources that wait to be read. Finding goes ahead so that progress knows how many there are. */
const MAX_AHEAD = 10_000;

/** Gives every resource, or the starts and all that is below them. */
async function* below(
  client: ResourceClient,
  starts: readonly string[],
  run: Run,
  wanted: Wanted,
  options: GetOptions,
  seen: ReadonlySet<string>,
): AsyncGenerator<ListedResource, void, undefined> {
  const { maxDepth, maxResources = DEFAULT_MAX_RESOURCES, timeoutMs } = options;
  const { signal, stopped: onStop } = run;
  const filter = ({ resource }: WalkEntry): WalkVerdict => wanted(resource.uri);

  async function* walk(uri?: string): AsyncGenerator<ListedResource, void, undefined> {
    const left = Math.max(0, maxResources - seen.size);
    const walked = client.walk(uri, { maxDepth, maxResources: left, timeoutMs, signal, onStop, filter });
    for await (const { resource } of walked) yield resource;
  }

  if (starts.length === 0) yield* walk();
  for (const uri of starts) {
    const { resource } = await client.metadata(uri, { signal, timeoutMs });
    const listable = isListable(resource);
    yield { ...resource, uri };
    if (listable === false) continue;
    try {
      yield* walk(uri);
    } catch (error) {
      signal.throwIfAborted();
      // The server did not say that this resource has children, and the walk found that it has none.
      if (listable === true || !(error instanceof ResourceClientError) || !NO_CHILDREN.has(error.code)) throw error;
    }
  }
}

const NO_CHILDREN: ReadonlySet<string> = new Set(['not-listable', 'not-found', 'unsupported', 'invalid']);

function reportOf(
  run: Run,
  { entries }: Manifest,
  seen: ReadonlySet<string>,
  wanted: Wanted,
  place: Pick<GetReport, 'folder' | 'start'>,
): GetReport {
  const { stops, overTotal } = run;
  const progress = run.progress();
  const all = !overTotal && Object.keys(stops).every((reason) => reason === 'visited');
  const unseen = all ? [...entries.values()].filter(({ uri }) => !seen.has(uri) && wanted(uri) === true) : [];
  return {
    ...progress,
    ...place,
    gone: unseen.slice(0, MAX_GONE).map(({ path }) => path.join('/')),
    stopped: stops,
    overTotal,
    complete: all && progress.failed === 0,
  };
}
