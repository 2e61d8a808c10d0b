/** Reads a page or response as it arrives, a feed as its document, and an entry as its text in the feed. */
import { bytesOf, type ResourceBody } from '../../core/body.ts';
import { versioned } from '../../core/content-version.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { ReadOptions } from '../../core/provider.ts';
import { isContentVersion, isWeakVersion } from '../../protocol/content-version.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Answers } from './answers.ts';
import type { Catalogue } from './catalogue.ts';
import { type Facts, hintOf } from './facts.ts';
import { MAX_FEED_BYTES } from './feeds.ts';
import { windowOf } from './ranges.ts';
import { isFeed, resourceOf, type Target, typeOf } from './target.ts';

export interface Reading {
  readonly catalogue: Catalogue;
  readonly answers: Answers;
  /** Whether clients can subscribe to changes. */
  readonly watched: boolean;
}

export async function readWeb(
  { catalogue, answers, watched }: Reading,
  uri: string,
  want: ReadOptions,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  ctx.signal.throwIfAborted();
  const target = await catalogue.find(uri, ctx);
  if (target.inline !== undefined) {
    const resource = resourceOf(target, undefined, watched);
    ctx.notes?.plain();
    if (want.range === undefined) return [{ resource, content: bytesOf(target.inline.bytes) }];
    return [{ resource, ...windowOf(target.inline.bytes, want.range, uri) }];
  }
  // Before reading a window of an unknown URL, ask for its type: it may be a feed.
  const ask = want.range !== undefined && target.head && target.feed === undefined;
  if (isFeed(target, answers.known(target.uri) ?? (ask ? await answers.facts(target, ctx) : undefined))) {
    if (want.range !== undefined) throw invalid('A feed has no bytes to read a window of; list it instead', uri);
    const { bytes, facts } = await answers.whole(target, MAX_FEED_BYTES, ctx);
    ctx.notes?.fresh(hintOf(facts));
    return [{ resource: resourceRead(target, facts, watched), content: bytesOf(bytes) }];
  }
  const { facts, content, window, close } = await answers.open(target, want, ctx);
  ctx.notes?.fresh(hintOf(facts));
  const version = isContentVersion(facts.etag) && !isWeakVersion(facts.etag) ? facts.etag : undefined;
  return [{ resource: resourceRead(target, facts, watched), content: versioned(content, version), window, close }];
}

/** Returns the resource as its metadata describes it, but with the type of its bytes. */
function resourceRead(target: Target, facts: Facts, watched: boolean): Resource {
  // Without HEAD, metadata has no size and no date, so a read gives none either. It takes only the type from the response.
  const shownFacts = target.head ? facts : { ...facts, size: undefined, lastModified: undefined };
  const mimeType = typeOf(target, facts);
  return { ...resourceOf(target, shownFacts, watched), ...(mimeType !== undefined && { mimeType }) };
}
