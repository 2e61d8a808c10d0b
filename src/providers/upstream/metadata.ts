/**
 * Gets the metadata of one resource of an upstream: asks for it, else looks for it in the server's list, else reads the
 * resource (2093-2, 2093-11). Asks every server that has resources, since SEP-2093 has no extension that a server could
 * declare. A server that turns out to lack the method is not asked again over the same connection.
 */
import { identityOf } from '../../connection/uris.ts';
import type { ResourceBody } from '../../core/body.ts';
import { type Context, withSignal } from '../../core/context.ts';
import { notFound, ResourceError, type ResourceErrorCode } from '../../core/errors.ts';
import type { Page } from '../../core/provider.ts';
import { createSharedWork } from '../../core/waiting/shared-work.ts';
import { METADATA_METHOD } from '../../protocol/methods.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Asking } from './asking.ts';
import type { Border } from './border/index.ts';
import { completeEntry } from './complete.ts';
import type { Connections } from './connections.ts';
import type { Facts } from './facts.ts';
import { declaresList, type Entry, type KnownResources } from './known.ts';
import { isNoMethod, refusing } from './refusing.ts';
import type { View } from './view.ts';
import type { Link } from './wire/link.ts';

/** The most entries of a list that are read to find the one with a given URI. */
const MAX_LOOKED_AT = 20_000;

/** Entries of a page of that list. */
const STEP = 1_000;

/** The longest that a read waits for the server to say whether its resource has children, in milliseconds. */
const MAX_ASKING_MS = 2_000;

/** Codes of other errors that servers send for an unknown method; some send nothing, which gives `timeout`. */
const MAY_MEAN_NO_METHOD: ReadonlySet<ResourceErrorCode> = new Set(['invalid', 'internal', 'timeout']);

export interface MetadataSetup {
  /** The mount's name. */
  readonly name: string;
  readonly facts: () => Facts;
  readonly asking: Asking;
  readonly connections: Pick<Connections, 'of'>;
  readonly border: Border;
  readonly notValid: (uri: string) => ResourceError;
  /** Returns a page of the server's own list. */
  list(page: Page, ctx: Context): Promise<EntryPage>;
  /** Reads the resource, and learns from it whether its contents have several URIs. */
  read(uri: string, ctx: Context): Promise<readonly ResourceBody[]>;
}

/** The connection that is up now; there may be none. */
type Over = Pick<View['supervisor'], 'current'>;

/** A page of a list, with the valid entries as the server describes them. */
export interface EntryPage {
  readonly entries: readonly Entry[];
  readonly nextCursor: string | undefined;
}

export interface Described {
  readonly resource: Resource;
  /** Whether the server itself says that the resource has children (2093-5), in its metadata or its list. */
  readonly declaresList: boolean;
}

export interface Metadata {
  of(uri: string, ctx: Context): Promise<Resource>;
  describe(uri: string, ctx: Context): Promise<Described>;
  /** Whether the server says that a resource has children (2093-5). Asks the server if that is not known. */
  saysListable(uri: string, ctx: Context): Promise<boolean>;
  isListed(uri: string, ctx: Context): Promise<boolean>;
}

export function createMetadata(setup: MetadataSetup): Metadata {
  const { name, asking, border, connections, facts } = setup;
  /** Scans, by the period in which they began: a caller that comes after a change does not join an older one. */
  const scans = createSharedWork<symbol>();
  /** Whether the server has the method, for each connection on which that is known. */
  const answers = new WeakMap<Link, boolean>();

  const hasMethod = ({ current }: Over): boolean | undefined => current && answers.get(current);
  const learn = ({ current }: Over, has: boolean): void => void (current && answers.set(current, has));

  /**
   * Asks the server; undefined if it does not have the method, or seems not to have it. The answer is for this caller, even if
   * a change means that it is not kept for later ones.
   */
  async function askServer(uri: string, { known, supervisor }: View, ctx: Context): Promise<Entry | undefined> {
    const has = hasMethod(supervisor);
    if (has === false) return undefined;
    const asked = known.period;
    const isSure = has ?? facts().metadata;
    const answer = await refusing(uri, asking.ask(METADATA_METHOD, uri, { uri }, ctx)).catch((error: unknown) => {
      if (isNoMethod(error)) learn(supervisor, false);
      else if (isSure || ctx.signal.aborted || !(error instanceof ResourceError && MAY_MEAN_NO_METHOD.has(error.code)))
        throw error;
      return undefined;
    });
    if (answer?.resource === undefined) return undefined;
    learn(supervisor, true);
    const looked = border.look('resource', answer.resource);
    if ('problem' in looked) {
      ctx.log.warn('a mounted server describes a resource in a way that is not valid', { mount: name, ...looked });
      throw setup.notValid(uri);
    }
    const entry = looked.entry as Entry;
    known.learnUnlisted(uri, entry, facts().tellsResources, asked);
    return entry;
  }

  /** Looks for the resource in the lists that were read, else reads the whole list. */
  async function findListed(uri: string, known: KnownResources, ctx: Context): Promise<Entry | undefined> {
    const found = known.get(uri);
    if (found !== undefined || known.whole) return found;
    const scanned = await scan(known, ctx);
    return known.get(uri) ?? scanned.get(uri);
  }

  type Scanned = ReadonlyMap<string, Entry>;

  /** Reads the server's list, once for all callers that wait for it. */
  const scan = (known: KnownResources, ctx: Context): Promise<Scanned> =>
    scans.run(known.period, ctx.signal, (signal) => scanAll(known, withSignal({ ...ctx, notes: undefined }, signal)));

  /** Returns the entries for the callers of this scan, even if a change means that they are not kept for later ones. */
  async function scanAll(known: KnownResources, ctx: Context): Promise<Scanned> {
    const begun = known.period;
    const scanned = new Map<string, Entry>();
    let cursor: string | undefined;
    let seen = 0;
    do {
      const asked = known.period;
      const { entries, nextCursor } = await setup.list({ cursor, limit: STEP }, ctx);
      known.keep(entries, facts().tellsResources, asked);
      for (const entry of entries) scanned.set(entry.uri, entry);
      // An empty page counts, too, since such pages may have no end.
      seen += Math.max(1, entries.length);
      cursor = nextCursor;
    } while (cursor !== undefined && seen < MAX_LOOKED_AT);
    if (cursor === undefined) known.learnedAll(facts().tellsResources, begun);
    return scanned;
  }

  /** Reads a resource that is in no list: only a read tells whether it exists. */
  async function readOf(uri: string, known: KnownResources, ctx: Context): Promise<Entry> {
    const bodies = await setup.read(uri, ctx);
    const same = bodies.find(({ resource }) => identityOf(resource.uri) === identityOf(uri));
    const several = known.hasSeveral(uri);
    if (bodies.length === 0 && !several) throw notFound(uri);
    // If the contents have several URIs, the first item is a child, and does not describe this resource.
    return { ...(same ?? (several ? undefined : bodies[0]))?.resource, uri };
  }

  async function describe(uri: string, ctx: Context): Promise<Described> {
    if (!facts().reached) await asking.link(ctx);
    if (!facts().resources) throw notFound(uri);
    const view = await connections.of(ctx);
    const { known, supervisor } = view;
    const answer = await askServer(uri, view, ctx);
    const own = answer ?? (await findListed(uri, known, ctx));
    const entry = own ?? (await readOf(uri, known, ctx));
    // The resource exists, so the server refused the method and not the URI.
    if (answer === undefined && hasMethod(supervisor) === undefined) learn(supervisor, false);
    return { resource: completeEntry(entry, known, facts()), declaresList: declaresList(own) };
  }

  return {
    describe,
    of: async (uri, ctx) => (await describe(uri, ctx)).resource,
    async saysListable(uri, ctx) {
      const view = await connections.of(ctx);
      const found = view.known.get(uri);
      if (found !== undefined) return declaresList(found);
      const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(MAX_ASKING_MS)]);
      const answer = await askServer(uri, view, withSignal(ctx, signal)).catch(() => undefined);
      ctx.signal.throwIfAborted();
      return declaresList(answer ?? view.known.get(uri));
    },
    async isListed(uri, ctx) {
      const { known } = await connections.of(ctx);
      const scanned = known.isListed(uri) || known.whole ? undefined : await scan(known, ctx);
      return known.isListed(uri) || scanned?.has(uri) === true;
    },
  };
}
