/** A files provider on a folder of one test, and common requests to it. */
import { chunksOf, closeBodies } from '../../src/core/body.ts';
import { createContext } from '../../src/core/context.ts';
import { ResourceError, type ResourceErrorCode } from '../../src/core/errors.ts';
import type { ChangeEvent, ReadOptions, ResourceProvider } from '../../src/core/provider.ts';
import type { Resource } from '../../src/protocol/resources.ts';
import { type FilesOptions, filesProvider } from '../../src/providers/files/index.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { within } from '../e2e/waiting.ts';

export const MEBIBYTE = 1024 * 1024;

export interface Served extends AsyncDisposable {
  readonly provider: ResourceProvider;
  /** All children, over all pages. */
  list(uri: string, limit?: number): Promise<Resource[]>;
  names(uri: string): Promise<string[]>;
  /** All bytes of a read, one body after the other. */
  bytes(uri: string, want?: Partial<ReadOptions>): Promise<Buffer>;
  text(uri: string, want?: Partial<ReadOptions>): Promise<string>;
  metadata(uri: string): Promise<Resource>;
  complete(value: string): Promise<readonly string[]>;
  /** @param onEvent called with all events so far, for each new event */
  watch(uri?: string, onEvent?: (events: readonly ChangeEvent[]) => void): Promise<Watching>;
}

export async function serve(options: FilesOptions): Promise<Served> {
  const provider = await filesProvider(options);
  const ctx = createContext();
  const served: Served = {
    provider,
    async list(uri, limit = 100) {
      const all: Resource[] = [];
      let cursor: string | undefined;
      do {
        const page = await provider.list(uri, { cursor, limit }, ctx);
        all.push(...page.resources);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return all;
    },
    names: async (uri) => (await served.list(uri)).map((resource) => resource.name),
    async bytes(uri, want = {}) {
      const bodies = await provider.read(uri, { maxBytes: 64 * MEBIBYTE, maxChildren: 1_000, ...want }, ctx);
      try {
        const chunks: Uint8Array[] = [];
        for (const body of bodies) for await (const chunk of chunksOf(body.content)) chunks.push(chunk);
        return Buffer.concat(chunks);
      } finally {
        await closeBodies(bodies);
      }
    },
    text: async (uri, want) => (await served.bytes(uri, want)).toString('utf8'),
    metadata: (uri) => provider.metadata(uri, ctx),
    async complete(value) {
      const uriTemplate = 'file:///{+path}';
      const request = { uriTemplate, variable: 'path', value, known: {}, limit: 100 };
      return (await provider.complete?.(request, ctx))?.values ?? [];
    },
    watch: (uri, onEvent) => watching(provider, uri, onEvent),
    [Symbol.asyncDispose]: async () => provider.close?.(),
  };
  return served;
}

export interface ServedFolder extends AsyncDisposable {
  readonly folder: Folder;
  readonly served: Served;
}

/** A new folder with these files, served. */
export async function serveFiles(
  files: Readonly<Record<string, string>>,
  options: Partial<FilesOptions> = {},
): Promise<ServedFolder> {
  const folder = await temporaryFolder(files);
  const served = await serve({ path: folder.path, ...options });
  return {
    folder,
    served,
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A watch, and the events that it reported. */
export interface Watching extends AsyncDisposable {
  readonly events: readonly ChangeEvent[];
  /** Makes the change, and waits for an event that is reported after it began. */
  told(change: () => Promise<unknown>, what?: string): Promise<ChangeEvent>;
  /** Resolves with the next event from now on. */
  next(what?: string): Promise<ChangeEvent>;
}

async function watching(
  provider: ResourceProvider,
  uri: string | undefined,
  onEvent: (events: readonly ChangeEvent[]) => void = () => {},
): Promise<Watching> {
  const events: ChangeEvent[] = [];
  const waiting = new Set<(event: ChangeEvent) => void>();
  const handle = await provider.watch?.(
    uri,
    (event) => {
      events.push(event);
      onEvent(events);
      for (const tell of [...waiting]) tell(event);
      waiting.clear();
    },
    createContext(),
  );
  if (handle === undefined) throw new Error('the provider cannot be watched');
  const next = (what = `a change of ${uri ?? 'the list'}`): Promise<ChangeEvent> =>
    within(new Promise<ChangeEvent>((resolve) => waiting.add(resolve)), what);
  return {
    events,
    next,
    async told(change, what) {
      const [event] = await Promise.all([next(what), change()]);
      return event;
    },
    [Symbol.asyncDispose]: async () => handle[Symbol.asyncDispose](),
  };
}

/** The code of the error of an operation. Fails if the operation succeeds, or fails in another way. */
export async function refused(operation: Promise<unknown>): Promise<ResourceErrorCode> {
  return (await refusal(operation)).code;
}

/** The error of an operation. Fails if the operation succeeds, or fails in another way. */
export async function refusal(operation: Promise<unknown>): Promise<ResourceError> {
  const outcome = await operation.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome && outcome.error instanceof ResourceError) return outcome.error;
  throw new Error('it was not refused', { cause: outcome });
}
