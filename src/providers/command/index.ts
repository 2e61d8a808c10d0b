/**
 * Live data: programs of the configuration whose output is the resource. A read of `command:///load.txt` runs the
 * program at that path and returns its output. Programs get their arguments directly, without a shell. Callers choose
 * only values of variables, each restricted by a pattern or a list.
 *
 * @example
 * const live = await commandProvider({ run: { 'load.txt': ['uptime'] } });
 */
import { createHash } from 'node:crypto';
import { bytesOf, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { invalid, notFound, notListable, ResourceError } from '../../core/errors.ts';
import type { ChangeEvent, Page, ReadOptions, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import { createPolling } from '../polling.ts';
import { type CommandOptions, MAX_CONCURRENT, MAX_FOLLOWED, TIMEOUT_SECONDS } from './config.ts';
import { createFollowing } from './follow.ts';
import { entriesOf, type Instance, instanceAt, isTemplate, resourceOf, SCHEME } from './programs.ts';
import { KEPT_BYTES } from './run.ts';
import { chunksFrom, createRuns, type Runs } from './runs.ts';
import { completeVariable, templatePage } from './templates.ts';
import { type Child, treeOf } from './tree.ts';

export { type CommandConfig, type CommandOptions, commandConfig } from './config.ts';

type Found =
  | { readonly kind: 'program'; readonly instance: Instance; readonly name: string }
  | { readonly kind: 'folder'; readonly segments: readonly string[]; readonly children: readonly Child[] };

/** @throws ResourceError `invalid` that names the wrong path in the configuration, and the reason */
export async function commandProvider(options: CommandOptions): Promise<ResourceProvider> {
  const name = options.name ?? 'commands';
  const entries = await entriesOf(options);
  const tree = treeOf(entries);
  const runs = createRuns(options.maxConcurrent ?? MAX_CONCURRENT, (options.timeoutSeconds ?? TIMEOUT_SECONDS) * 1_000);
  const following = createFollowing(options.maxFollowed ?? MAX_FOLLOWED);
  const polling = createPolling(
    (uri, ctx) => fingerprint(runs, programOf(uri ?? '').instance, ctx),
    options.maxConcurrent ?? MAX_CONCURRENT,
  );
  const watchable = entries.some(({ block }) => block.watch !== undefined || block.follow !== undefined);
  const templates = entries.filter(isTemplate);

  function find(uri: string): Found {
    const { segments, trailingSlash } = parseTreeUri(uri, SCHEME);
    const children = tree.children(segments);
    if (children !== undefined) return { kind: 'folder', segments, children };
    const instance = trailingSlash ? undefined : instanceAt(entries, segments);
    if (instance === undefined) throw notFound(uri);
    return { kind: 'program', instance, name: segments.at(-1) ?? name };
  }

  function programOf(uri: string): Extract<Found, { kind: 'program' }> {
    const found = find(uri);
    if (found.kind === 'folder') throw invalid('A folder of programs does not change', uri);
    return found;
  }

  const folder = (segments: readonly string[]): Resource => ({
    uri: treeUri(SCHEME, segments),
    name: segments.at(-1) ?? name,
    mimeType: DIRECTORY_MIME_TYPE,
    capabilities: { list: true, subscribe: false },
  });
  const describe = (found: Found): Resource =>
    found.kind === 'folder' ? folder(found.segments) : resourceOf(found.instance, found.name);
  const childOf = (segments: readonly string[], child: Child): Resource =>
    child.instance === undefined ? folder([...segments, child.name]) : resourceOf(child.instance, child.name);

  async function list(uri: string | undefined, page: Page, { signal }: Context): Promise<ResourcePage> {
    signal.throwIfAborted();
    if (uri === undefined) return { resources: [folder([])] };
    const found = find(uri);
    if (found.kind === 'program') throw notListable(uri);
    const { cursor = '' } = page;
    const rest = found.children.filter(({ key }) => key > cursor);
    const shown = rest.slice(0, page.limit);
    return {
      resources: shown.map((child) => childOf(found.segments, child)),
      nextCursor: shown.length < rest.length ? shown.at(-1)?.key : undefined,
    };
  }

  async function read(uri: string, want: ReadOptions, ctx: Context): Promise<readonly ResourceBody[]> {
    ctx.signal.throwIfAborted();
    const found = find(uri);
    if (found.kind === 'program') return [await bodyOf(runs, found.instance, describe(found), uri, ctx)];
    if (want.range !== undefined) throw invalid('A folder has no bytes to read a window of; list it instead', uri);
    // Reading a folder must not run its programs: the answer only names them.
    return found.children
      .filter(({ instance }) => instance === undefined)
      .slice(0, want.maxChildren)
      .map((child) => ({
        resource: childOf(found.segments, child),
        content: bytesOf(new Uint8Array()),
        child: true,
      }));
  }

  async function watch(
    uri: string | undefined,
    onChange: (event: ChangeEvent) => void,
    ctx: Context,
  ): Promise<AsyncDisposable> {
    ctx.signal.throwIfAborted();
    // The list comes from the configuration, which does not change.
    if (uri === undefined) return { [Symbol.asyncDispose]: async () => {} };
    const { instance } = programOf(uri);
    const tell = (): void => onChange({ kind: 'updated', uri });
    if (instance.follow !== undefined) return await following.follow(instance.uri, instance.follow, tell, ctx);
    if (instance.watchMs === undefined) throw invalid('Changes of this program are not watched', uri);
    return await polling.watch(instance.uri, instance.watchMs, tell, ctx);
  }

  return {
    name,
    features: {
      schemes: [SCHEME],
      watch: watchable,
      templates: templates.length > 0,
      completion: templates.length > 0,
      search: false,
      ranges: false,
    },
    list,
    metadata: async (uri) => describe(find(uri)),
    read,
    ...(templates.length > 0 && {
      listTemplates: async (page) => templatePage(templates, page),
      complete: async (request) => completeVariable(templates, request),
    }),
    ...(watchable && { watch }),
    async close() {
      const ended = Promise.all([polling.close(), following.close()]);
      await runs.close();
      await ended;
    },
  } satisfies ResourceProvider;
}

/** Output of at most `KEPT_BYTES` is returned as a whole, or fails, when the program has ended. Longer output is a stream. */
async function bodyOf(
  runs: Runs,
  { program }: Instance,
  resource: Resource,
  uri: string,
  ctx: Context,
): Promise<ResourceBody> {
  const reader = runs.read(program, ctx);
  try {
    const bytes = await reader.whole(KEPT_BYTES, ctx.signal);
    if (bytes === undefined) {
      const open = (): AsyncIterable<Uint8Array> => chunksFrom(reader, uri, ctx);
      return { resource, content: { kind: 'stream', open }, close: async () => reader.leave() };
    }
    reader.leave();
    return { resource, content: bytesOf(bytes) };
  } catch (error) {
    reader.leave();
    throw error instanceof ResourceError ? error.withUri(uri) : error;
  }
}

/** Hashes the present output; a failure of the program counts as a state of its own. */
async function fingerprint(runs: Runs, { program, uri }: Instance, ctx: Context): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of chunksFrom(runs.read(program, ctx, true), uri, ctx)) hash.update(chunk);
    return hash.digest('base64');
  } catch (error) {
    if (error instanceof ResourceError && error.code !== 'limited' && !ctx.signal.aborted) return error.code;
    throw error;
  }
}
