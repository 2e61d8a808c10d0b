/** Resources of a server as files in a folder: all of them, or what is below some of them, once or again and again. */

import { DIRECTORY_MIME_TYPE } from '../../../protocol/resources.ts';
import type { ResourceClient } from '../../client.ts';
import { ResourceClientError } from '../../errors.ts';
import { isListable, type ListedResource } from '../../shapes.ts';
import { keptNames } from './acting.ts';
import { openDisk } from './disk.ts';
import { addEntry, checkHead, type Manifest, type ManifestHead, readManifest, writeManifest } from './manifest.ts';
import { getOne, type OneSetup } from './one.ts';
import { createPlacement } from './placement.ts';
import { DEFAULT_MAX_FILE_BYTES, DEFAULT_MAX_RESOURCES, type GetOptions, type GetReport, MAX_GONE } from './report.ts';
import { createRun, OVER_TOTAL, type Run } from './run.ts';

export type { GetEntry, GetOptions, GetProgress, GetReport, GetStatus } from './report.ts';

/**
 * Writes resources to files below a folder. A second run into the same folder takes what changed, and one that was
 * interrupted goes on. Names that lead elsewhere and names that tools act on are escaped, links are not followed, and what
 * is not its own is left alone.
 * @param start a URI, or several; undefined for all that the server has
 * @param folder made if it is not there
 * @throws ResourceClientError: what the server answers to the start, `invalid` for a folder that holds something else and
 *   for a name to keep on which no tool acts; the reason of the signal; errors of the disk. What is wrong with one
 *   resource is told in `onEntry`.
 */
export async function getResources(
  client: ResourceClient,
  start: string | readonly string[] | undefined,
  folder: string,
  options: GetOptions = {},
): Promise<GetReport> {
  const keep = keptNames(options.keepNames ?? []);
  const starts = start === undefined ? [] : typeof start === 'string' ? [start] : start;
  const { name: server = null } = await client.connect(options.signal);
  await using disk = await openDisk(folder, options.force === true);
  const manifest = await readManifest(disk.folder);
  const head: ManifestHead = { vitrineGet: 1, server, start: starts };
  checkHead(manifest.head, head);
  const placement = createPlacement(starts.length === 1 ? starts[0] : undefined, keep);
  for (const [uri, { path }] of manifest.entries) if (!placement.keep(uri, path)) manifest.entries.delete(uri);
  await writeManifest(disk.folder, head, manifest.entries.values(), manifest.unfinished, false);

  const run = createRun(options);
  const setup: OneSetup = {
    client,
    disk,
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
      await addEntry(disk.folder, entry);
    },
  };
  const seen = new Set<string>();

  async function take(resource: ListedResource): Promise<void> {
    const { uri } = resource;
    if (seen.has(uri)) return;
    seen.add(uri);
    const container = isListable(resource) === true;
    // A folder is what is in it.
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

  let ended = false;
  try {
    for (const uri of starts) await takeBelow(client, uri, run, take, options, seen);
    if (starts.length === 0) await takeWalk(client, undefined, run, take, options, seen);
    await run.settle();
    ended = true;
  } catch (error) {
    if (error !== OVER_TOTAL) throw error;
  } finally {
    await run.settle().catch(() => {});
    if (ended) await writeManifest(disk.folder, head, manifest.entries.values(), new Set(), true);
  }
  return reportOf(run, manifest, seen, { folder: disk.folder, start: starts });
}

type Take = (resource: ListedResource) => Promise<void>;

/** A resource, and what is below it. */
async function takeBelow(
  client: ResourceClient,
  uri: string,
  run: Run,
  take: Take,
  options: GetOptions,
  seen: ReadonlySet<string>,
): Promise<void> {
  const { resource } = await client.metadata(uri, { signal: run.signal, timeoutMs: options.timeoutMs });
  const listable = isListable(resource);
  await take({ ...resource, uri });
  if (listable === false) return;
  try {
    await takeWalk(client, uri, run, take, options, seen);
  } catch (error) {
    run.signal.throwIfAborted();
    // Nothing said that it has children, and it has none.
    if (listable === true || !(error instanceof ResourceClientError) || !NO_CHILDREN.has(error.code)) throw error;
  }
}

const NO_CHILDREN: ReadonlySet<string> = new Set(['not-listable', 'not-found', 'unsupported', 'invalid']);

async function takeWalk(
  client: ResourceClient,
  uri: string | undefined,
  run: Run,
  take: Take,
  { maxDepth, maxResources = DEFAULT_MAX_RESOURCES, timeoutMs }: GetOptions,
  seen: ReadonlySet<string>,
): Promise<void> {
  const left = Math.max(0, maxResources - seen.size);
  const { signal, stopped: onStop } = run;
  const walk = client.walk(uri, { maxDepth, maxResources: left, timeoutMs, signal, onStop });
  for await (const { resource } of walk) await take(resource);
}

function reportOf(
  run: Run,
  { entries }: Manifest,
  seen: ReadonlySet<string>,
  place: Pick<GetReport, 'folder' | 'start'>,
): GetReport {
  const { stops, overTotal } = run;
  const progress = run.progress();
  const all = !overTotal && Object.keys(stops).every((reason) => reason === 'visited');
  const unseen = all ? [...entries.values()].filter(({ uri }) => !seen.has(uri)) : [];
  return {
    ...progress,
    ...place,
    gone: unseen.slice(0, MAX_GONE).map(({ path }) => path.join('/')),
    stopped: stops,
    overTotal,
    complete: all && progress.failed === 0,
  };
}
