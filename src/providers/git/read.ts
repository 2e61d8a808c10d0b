/** Reads a file or a window of it, a document about commits, or a container as a bounded set of its children. */

import { bytesOf, type ResourceBody } from '../../core/body.ts';
import { childBodies } from '../../core/child-bodies.ts';
import { versioned } from '../../core/content-version.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { bestFormat } from '../../core/formats/accept.ts';
import type { ReadOptions } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import { blameJson, blameOf, blameText } from './blame.ts';
import { readBlob, windowOf } from './blobs.ts';
import { diffBetween } from './changes.ts';
import { commitJson, commitMarkdown, factsOf } from './commit-document.ts';
import { type Found, find, submoduleText } from './describe.ts';
import type { Repository } from './find.ts';
import { listFound } from './list.ts';

export async function read(
  repo: Repository,
  uri: string,
  want: ReadOptions,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  const found = await find(repo, uri, ctx.signal);
  return found.resource.capabilities?.list
    ? readChildren(repo, found, want, ctx, uri)
    : [await readLeaf(repo, found, want, ctx, uri)];
}

async function readLeaf(
  repo: Repository,
  { address, target, entry, base, resource }: Found,
  want: ReadOptions,
  ctx: Context,
  uri: string,
): Promise<ResourceBody> {
  switch (address.kind) {
    case 'tree': {
      if (entry === undefined) break;
      if (entry.kind === 'submodule') return document(resource, Buffer.from(submoduleText(entry.oid)), want, uri);
      const { content, total } = await readBlob(repo, entry.oid, resource.size, want.range, uri, ctx);
      const window = want.range === undefined ? undefined : { offset: want.range.offset, total };
      return { resource, content: versioned(content, `"${entry.oid}"`), window };
    }
    case 'commit': {
      if (target?.commit === undefined) break;
      const facts = await factsOf(repo, target, target.commit, ctx);
      return chosen(resource, want, uri, {
        'text/markdown': () => Buffer.from(commitMarkdown(facts)),
        'application/json': () => Buffer.from(commitJson(facts)),
      });
    }
    case 'blame': {
      if (target?.commit === undefined) break;
      const blame = await blameOf(repo, target.commit.oid, address.path, ctx);
      return chosen(resource, want, uri, {
        'text/plain': () => blameText(blame),
        'application/json': () => Buffer.from(blameJson(repo, blame)),
      });
    }
    case 'diff':
    case 'compare': {
      if (target === undefined) break;
      if (base === undefined && (target.commit?.parents.length ?? 0) > 0)
        throw new ResourceError(
          'unavailable',
          'The repository is shallow: it does not have the state before this commit',
        );
      return document(resource, await diffBetween(repo, base, target, address.path, ctx), want, uri);
    }
  }
  throw new ResourceError('internal', 'Such a resource has no content');
}

/** Makes the body in the format that the client prefers, or in the first one if it wants none of them. */
function chosen(
  resource: Resource,
  want: ReadOptions,
  uri: string,
  formats: Readonly<Record<string, () => Buffer>>,
): ResourceBody {
  const types = Object.keys(formats);
  const mimeType = types[bestFormat(types, want.accept ?? []) ?? 0] ?? '';
  return document({ ...resource, mimeType }, formats[mimeType]?.() ?? Buffer.alloc(0), want, uri);
}

/** Makes the body of a document, or of the requested window of it. */
function document(resource: Resource, bytes: Buffer, want: ReadOptions, uri: string): ResourceBody {
  if (want.range === undefined) return { resource, content: bytesOf(bytes) };
  const { offset, end } = windowOf(want.range, bytes.byteLength, uri);
  return { resource, content: bytesOf(bytes.subarray(offset, end)), window: { offset, total: bytes.byteLength } };
}

async function readChildren(
  repo: Repository,
  container: Found,
  want: ReadOptions,
  ctx: Context,
  uri: string,
): Promise<readonly ResourceBody[]> {
  if (want.range !== undefined) throw invalid('A folder has no bytes to read a window of; list it instead', uri);
  if (want.maxChildren < 1) return [];
  const { resources } = await listFound(repo, container, { limit: want.maxChildren }, ctx, uri);
  return childBodies(uri, resources, want.maxBytes, (child, budget) => childBody(repo, child, want, budget, ctx), ctx);
}

/** Reads a file or document whole; undefined if it is larger than the budget. */
async function childBody(
  repo: Repository,
  resource: Resource,
  want: ReadOptions,
  budget: number,
  ctx: Context,
): Promise<ResourceBody | undefined> {
  if ((resource.size ?? 0) > budget) return undefined;
  return await readLeaf(repo, await find(repo, resource.uri, ctx.signal), want, ctx, resource.uri);
}
