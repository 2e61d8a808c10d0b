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
import { MAX_LIST } from './store.ts';

const TEMPLATE = `${SCHEME}:///{+path}`;

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

export function completeKey(bucket: Bucket, request: CompletionRequest, ctx: Context): Promise<CompletionValues> {
  return completeTreePath(TEMPLATE, request, async (segments, typed) => {
    const folder = segments.map((segment) => `${nameOfSegment(segment)}/`).join('');
    // A segment that begins with `;` may be the escaped form of a name, so the store cannot search for it as a prefix.
    const begin = typed.startsWith(';') ? '' : typed;
    const prefix = bucket.prefix + folder + begin;
    try {
      const limit = Math.min(MAX_LIST, begin === typed ? request.limit + 2 : MAX_LIST);
      const { entries } = await bucket.store.list({ prefix, folded: true, limit }, ctx.signal);
      if (entries.length === 0 && folder !== '' && typed === '') throw notListable(folder);
      return entries
        .filter((entry) => !isFolderMark(entry, bucket.prefix + folder))
        .map(({ key, kind }): TreeEntry => {
          const name = key.slice(bucket.prefix.length + folder.length);
          const isDirectory = kind === 'prefix';
          return { name: segmentOfName(isDirectory ? name.slice(0, -1) : name), isDirectory };
        })
        .filter(({ name }) => name.startsWith(typed));
    } catch (error) {
      throw faultOf(error, undefined, ctx.signal);
    }
  });
}
