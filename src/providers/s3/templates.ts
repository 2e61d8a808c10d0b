/** Lists the only template of a bucket, `s3:///{+path}`, and completes its path from lists of the store (RES-3). */
import type { Context } from '../../core/context.ts';
import { notListable } from '../../core/errors.ts';
import type { CompletionRequest, CompletionValues, TemplatePage } from '../../core/provider.ts';
import { nameOfSegment, segmentOfName } from '../../core/uri.ts';
import { completeTreePath, type TreeEntry } from '../tree-completion.ts';
import type { Bucket } from './bucket.ts';
import { faultOf } from './fault.ts';
import { isFolderMark } from './list.ts';
import { SCHEME } from './names.ts';
import { type KeyPage, MAX_LIST } from './store.ts';

const TEMPLATE = `${SCHEME}:///{+path}`;

/** The most lists for one completion. */
const MAX_LISTS = 10;

export function listTemplates({ name }: Bucket): TemplatePage {
  return {
    resourceTemplates: [
      {
        uriTemplate: TEMPLATE,
        name: `${name} by path`,
        title: `An object or folder in ${name}`,
        description:
          'Any object by its key, such as 2026/report.pdf; a folder with a slash at its end. In a path write %25 for %, %3F for ?, %23 for #.',
      },
    ],
  };
}

export async function completeKey(bucket: Bucket, request: CompletionRequest, ctx: Context): Promise<CompletionValues> {
  let stopped = false;
  const found = await completeTreePath(TEMPLATE, request, async (segments, typed) => {
    const folder = segments.map((segment) => `${nameOfSegment(segment)}/`).join('');
    // A segment that begins with `;` may be the escaped form of a name, so the store cannot search for it as a prefix.
    const begin = typed.startsWith(';') ? '' : typed;
    const prefix = bucket.prefix + folder + begin;
    const list = async (limit: number, after?: string): Promise<KeyPage> => {
      try {
        return await bucket.store.list({ prefix, folded: true, after, limit }, ctx.signal);
      } catch (error) {
        throw faultOf(error, undefined, ctx.signal);
      }
    };
    const first = await list(begin === typed ? Math.min(MAX_LIST, request.limit + 2) : MAX_LIST);
    if (first.entries.length === 0 && folder !== '' && typed === '') throw notListable(folder);

    /** Continues with further lists, because names whose segments do not begin with the typed text may fill the first one. */
    async function* entries(): AsyncGenerator<TreeEntry> {
      let page = first;
      let after: string | undefined;
      for (let lists = 1; ; lists++) {
        for (const entry of page.entries) {
          // A list after a folder begins with that folder again.
          if (entry.key === after || isFolderMark(entry, bucket.prefix + folder)) continue;
          const name = entry.key.slice(bucket.prefix.length + folder.length);
          const isDirectory = entry.kind === 'prefix';
          const segment = segmentOfName(isDirectory ? name.slice(0, -1) : name);
          if (segment.startsWith(typed)) yield { name: segment, isDirectory };
        }
        after = page.entries.at(-1)?.key;
        if (!page.truncated || after === undefined) return;
        stopped = lists === MAX_LISTS;
        if (stopped) return;
        page = await list(MAX_LIST, after);
      }
    }
    return entries();
  });
  return stopped ? { values: found.values, hasMore: true } : found;
}
