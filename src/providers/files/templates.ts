/** Lists the only template of a folder, `file:///{+path}`, and completes its path segment by segment (RES-3). */
import type { Context } from '../../core/context.ts';
import { notListable } from '../../core/errors.ts';
import type { CompletionRequest, CompletionValues, TemplatePage } from '../../core/provider.ts';
import { treeUri } from '../../core/uri.ts';
import { completeTreePath, type TreeEntry } from '../tree-completion.ts';
import { isAbsent } from './fault.ts';
import { type Folder, findSegments, SCHEME } from './folder.ts';
import type { SortedNames } from './sorted-names.ts';
import type { NameFilter } from './visibility.ts';

const TEMPLATE = `${SCHEME}:///{+path}`;

export function listTemplates(folder: Folder): TemplatePage {
  return {
    resourceTemplates: [
      {
        uriTemplate: TEMPLATE,
        name: `${folder.name} by path`,
        title: `A file or folder in ${folder.name}`,
        description:
          'Any file or folder by its path, such as guide/intro.md. In a path write %25 for %, %3F for ?, %23 for #.',
      },
    ],
  };
}

export function completePath(folder: Folder, request: CompletionRequest, ctx: Context): Promise<CompletionValues> {
  return completeTreePath(TEMPLATE, request, async (segments, prefix) => {
    const uri = treeUri(SCHEME, segments);
    await using found = await findSegments(folder, segments, 'content', uri);
    if (!found.isDirectory) throw notListable(uri);
    const filter = await folder.visibility.filterIn(found.opened.segments);
    const names = await folder.snapshots.take(found.opened, filter, true, uri, ctx.signal);
    const shown = await folder.visibility.filterIn(segments);
    return matching(names, prefix, shown, (name) => leadsTo(folder, [...segments, name]));
  });
}

/** The most links of one directory that are followed for one completion. Further links are left out. */
const MAX_LINKS = 1_000;

/**
 * Yields the entries whose names begin with a prefix. Such names are neighbours among the directories, and among the other
 * entries, so no other name is looked at. A link whose target is shown is offered as a file or directory, like its target.
 */
async function* matching(
  names: SortedNames,
  prefix: string,
  filter: NameFilter,
  follow: (name: string) => Promise<'directory' | 'file' | undefined>,
): AsyncIterable<TreeEntry> {
  let links = 0;
  for (const directories of [true, false]) {
    const end = directories ? names.directories : names.length;
    for (let index = names.from(directories, prefix); index < end; index++) {
      const { kind, name } = names.at(index);
      if (!name.startsWith(prefix)) break;
      if (kind === 'l') {
        const found = ++links > MAX_LINKS ? undefined : await follow(name);
        if (found !== undefined) yield { name, isDirectory: found === 'directory' };
      } else if (filter(name, kind === 'd')) {
        yield { name, isDirectory: kind === 'd' };
      }
    }
  }
}

async function leadsTo(folder: Folder, segments: readonly string[]): Promise<'directory' | 'file' | undefined> {
  try {
    await using found = await findSegments(folder, segments, 'metadata', treeUri(SCHEME, segments));
    return found.isDirectory ? 'directory' : 'file';
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}
