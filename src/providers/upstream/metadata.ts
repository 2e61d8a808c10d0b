/**
 * Gets an upstream's metadata of one resource: asks for it, or finds it in its list, or reads it with the contents (2093-2,
 * 2093-11). Every server that has resources is asked, since SEP-2093 knows no extension to declare; one that does not have
 * the method is not asked again over the same connection.
 */
import { identityOf } from '../../connection/uris.ts';
import type { ResourceBody } from '../../core/body.ts';
import { type Context, withSignal } from '../../core/context.ts';
import { notFound, ResourceError, type ResourceErrorCode } from '../../core/errors.ts';
import type { Page } from '../../core/provider.ts';
import { METADATA_METHOD } from '../../protocol/methods.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Asking } from './asking.ts';
import type { Border } from './border/index.ts';
import { completeEntry } from './complete.ts';
import type { Connections } from './connections.ts';
import type { Facts } from './facts.ts';
import type { Entry, Known } from './known.ts';
import { isNoMethod, refusing } from './refusing.ts';
import type { Link } from './wire/link.ts';
import type { World } from './world.ts';

/** Entries that are gone through to find one that is asked for by its URI. */
const MAX_LOOKED_AT = 20_000;

const STEP = 1_000;

/** Codes of what servers give for a method that they do not know, beside the error that is for it; some give nothing. */
const MAY_MEAN_NO_METHOD: ReadonlySet<ResourceErrorCode> = new Set(['invalid', 'internal', 'timeout']);

export interface MetadataSetup {
  /** The mount's name. */
  readonly name: string;
  readonly facts: () => Facts;
  readonly asking: Asking;
  readonly connections: Pick<Connections, 'of'>;
  readonly border: Border;
  readonly notValid: (uri: string) => ResourceError;
  /** A page of the server's own list. */
  list(page: Page, ctx: Context): Promise<EntryPage>;
  /** Its contents, after which it is known whether they are of several URIs. */
  read(uri: string, ctx: Context): Promise<readonly ResourceBody[]>;
}

/** The connection that is up now; there may be none. */
type Over = Pick<World['supervisor'], 'current'>;

/** A page of a list, as the server has it. */
export interface EntryPage {
  readonly entries: readonly Entry[];
  readonly nextCursor: string | undefined;
}

export interface Metadata {
  of(uri: string, ctx: Context): Promise<Resource>;
  isListed(uri: string, ctx: Context): Promise<boolean>;
}

export function createMetadata(setup: MetadataSetup): Metadata {
  const { name, asking, border, connections, facts } = setup;
  const scanning = new WeakMap<Known, Promise<void>>();
  /** Whether there is the method, over each connection over which that was found out. */
  const answers = new WeakMap<Link, boolean>();

  const hasMethod = ({ current }: Over): boolean | undefined => current && answers.get(current);
  const learn = ({ current }: Over, has: boolean): void => void (current && answers.set(current, has));

  /** Asks the server; undefined where it does not have the method, or may not have it. */
  async function asked(uri: string, { known, supervisor }: World, ctx: Context): Promise<Resource | undefined> {
    const has = hasMethod(supervisor);
    if (has === false) return undefined;
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
    known.learnUnlisted(uri, entry, facts().tellsResources);
    return completeEntry(entry, known, facts());
  }

  async function looked(uri: string, known: Known, ctx: Context): Promise<Entry | undefined> {
    const found = known.get(uri);
    if (found !== undefined || known.whole) return found;
    await scan(known, ctx);
    return known.get(uri);
  }

  /** Goes through the list for what is in it; once for all who wait. */
  function scan(known: Known, ctx: Context): Promise<void> {
    const going = scanning.get(known);
    if (going !== undefined) return going;
    // Who asked first may go away.
    const lasting = withSignal(ctx, new AbortController().signal);
    const fresh = scanAll(known, lasting).finally(() => scanning.delete(known));
    scanning.set(known, fresh);
    return fresh;
  }

  async function scanAll(known: Known, ctx: Context): Promise<void> {
    let cursor: string | undefined;
    let seen = 0;
    do {
      const { entries, nextCursor } = await setup.list({ cursor, limit: STEP }, { ...ctx, notes: undefined });
      known.keep(entries, facts().tellsResources);
      seen += entries.length;
      cursor = nextCursor;
    } while (cursor !== undefined && seen < MAX_LOOKED_AT);
    if (cursor === undefined) known.learnedAll(facts().tellsResources);
  }

  /** It is in no list: whether there is such a thing, only a read tells. */
  async function readOf(uri: string, known: Known, ctx: Context): Promise<Entry> {
    const bodies = await setup.read(uri, ctx);
    const own = bodies.find(({ resource }) => identityOf(resource.uri) === identityOf(uri));
    const several = known.hasSeveral(uri);
    if (bodies.length === 0 && !several) throw notFound(uri);
    // The first of several others is a child of it.
    return { ...(own ?? (several ? undefined : bodies[0]))?.resource, uri };
  }

  return {
    async of(uri, ctx) {
      if (!facts().reached) await asking.link(ctx);
      if (!facts().resources) throw notFound(uri);
      const world = await connections.of(ctx);
      const told = await asked(uri, world, ctx);
      if (told !== undefined) return told;
      const { known, supervisor } = world;
      const entry = (await looked(uri, known, ctx)) ?? (await readOf(uri, known, ctx));
      // There is such a resource, so it was the method that the server refused.
      if (hasMethod(supervisor) === undefined) learn(supervisor, false);
      return completeEntry(entry, known, facts());
    },
    async isListed(uri, ctx) {
      const { known } = await connections.of(ctx);
      if (!known.isListed(uri) && !known.whole) await scan(known, ctx);
      return known.isListed(uri);
    },
  };
}
