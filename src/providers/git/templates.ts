/** Lists the templates of a repository, and completes branches, tags, commits and paths (RES-3). */
import { breaks } from '../../core/breaks.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { CompletionRequest, CompletionValues, Page, TemplatePage } from '../../core/provider.ts';
import { parseUriTemplate } from '../../core/uri-template.ts';
import { DIRECTORY_MIME_TYPE, type ResourceTemplate } from '../../protocol/resources.ts';
import { completeTreePath, type TreeEntry } from '../tree-completion.ts';
import { isHash, parseUri, type Revision, uriOf } from './address.ts';
import { recordsOf, runGit } from './command.ts';
import { findPath, type Repository, resolveRevision } from './find.ts';
import { segmentOf, toBytes } from './names.ts';

interface GitTemplate {
  /** The part of the template after `git:///`. */
  readonly path: string;
  readonly title: string;
  /** The type of all resources that match (RES-11). */
  readonly mimeType?: string;
  /** The parts of the repository that must be shown, or the template is not listed. */
  readonly needs: readonly (keyof Repository['shows'])[];
}

const DIFF = 'text/x-diff';

const TEMPLATES: readonly GitTemplate[] = [
  { path: 'HEAD/{+path}', title: 'A file or folder as it is now', needs: [] },
  { path: 'branches/{branch}/{+path}', title: 'A file or folder of a branch', needs: ['branches'] },
  { path: 'tags/{tag}/{+path}', title: 'A file or folder of a tag', needs: ['tags'] },
  { path: 'commits/{commit}/{+path}', title: 'A file or folder as a commit left it', needs: ['commits'] },
  { path: 'commit/commits/{commit}', title: 'What a commit says', mimeType: 'text/markdown', needs: ['commits'] },
  { path: 'diff/commits/{commit}', title: 'What a commit changed', mimeType: DIFF, needs: ['commits'] },
  {
    path: 'log/HEAD/{+path}',
    title: 'The commits that changed a file or folder',
    mimeType: DIRECTORY_MIME_TYPE,
    needs: ['commits'],
  },
  {
    path: 'log/branches/{branch}/{+path}',
    title: 'The commits of a branch that changed a file or folder',
    mimeType: DIRECTORY_MIME_TYPE,
    needs: ['commits', 'branches'],
  },
  { path: 'blame/HEAD/{+path}', title: 'Who wrote which line of a file', needs: ['commits'] },
  {
    path: 'compare/branches/{base}/branches/{branch}',
    title: 'What is different from one branch to another',
    mimeType: DIFF,
    needs: ['commits', 'branches'],
  },
  {
    path: 'compare/tags/{base}/tags/{tag}',
    title: 'What is different from one tag to another',
    mimeType: DIFF,
    needs: ['commits', 'tags'],
  },
];

const uriTemplateOf = ({ path }: GitTemplate): string => `git:///${path}`;

const shown = ({ shows }: Repository): readonly GitTemplate[] =>
  TEMPLATES.filter(({ needs }) => needs.every((need) => shows[need]));

export function listTemplates(repo: Repository, page: Page): TemplatePage {
  const all = shown(repo).map(
    (template): ResourceTemplate => ({
      uriTemplate: uriTemplateOf(template),
      name: template.path,
      title: template.title,
      description:
        'In the name of a branch or tag write ~2F for a slash; in a path write %25 for %, %3F for ?, %23 for #.',
      ...(template.mimeType !== undefined && { mimeType: template.mimeType }),
    }),
  );
  const from = page.cursor === undefined ? 0 : all.findIndex(({ uriTemplate }) => uriTemplate === page.cursor) + 1;
  if (page.cursor !== undefined && from === 0) throw invalid('The cursor is not one of this provider');
  const resourceTemplates = all.slice(from, from + page.limit);
  const more = from + page.limit < all.length;
  return { resourceTemplates, nextCursor: more ? resourceTemplates.at(-1)?.uriTemplate : undefined };
}

/** @throws ResourceError `invalid` for a template or a variable that does not exist */
export async function complete(repo: Repository, request: CompletionRequest, ctx: Context): Promise<CompletionValues> {
  const template = shown(repo).find((candidate) => uriTemplateOf(candidate) === request.uriTemplate);
  if (template === undefined) throw invalid('There is no such template', request.uriTemplate);
  const { variables } = parseUriTemplate(template.path);
  if (!variables.includes(request.variable))
    throw invalid(`The template has no variable named ${JSON.stringify(request.variable)}`);
  if (request.variable === 'path') return completePath(repo, template, request, ctx);
  return limited(candidates(repo, template, request.variable, ctx), request, ctx);
}

/** Returns the values that begin with the typed text and that the caller may list, up to the limit. */
async function limited(
  values: AsyncIterable<Candidate>,
  { value, limit }: CompletionRequest,
  { may }: Context,
): Promise<CompletionValues> {
  const typed = value.replaceAll('/', '~2F');
  const found: string[] = [];
  for await (const { text, revision } of values) {
    if (!text.startsWith(typed)) continue;
    if (may !== undefined && !(await may('list', uriOf({ kind: 'tree', revision, path: [] })))) continue;
    if (found.length >= limit) return { values: found, hasMore: true };
    found.push(text);
  }
  return { values: found, hasMore: false, total: found.length };
}

/** The most commits that are looked at for one completion, the newest first. */
const MAX_COMMITS = 10_000;

/** The most references that are looked at for one completion. */
const MAX_REFS = 100_000;

interface Candidate {
  readonly text: string;
  readonly revision: Revision;
}

async function* candidates(
  repo: Repository,
  { path }: GitTemplate,
  variable: string,
  ctx: Context,
): AsyncIterable<Candidate> {
  if (variable === 'commit') {
    const head = await repo.refs.head(ctx.signal);
    if (head === undefined) return;
    const args = ['rev-list', `--max-count=${MAX_COMMITS}`, '--end-of-options', head, '--'];
    for await (const oid of recordsOf(runGit(repo.git, args, { signal: ctx.signal }))) {
      if (isHash(oid)) yield { text: oid, revision: { kind: 'commit', oid } };
    }
    return;
  }
  const kind = variable === 'tag' || path.startsWith('compare/tags/') ? 'tag' : 'branch';
  const prefix = kind === 'tag' ? 'refs/tags' : 'refs/heads';
  let seen = 0;
  for await (const { name } of repo.refs.below([prefix], ctx.signal)) {
    if (++seen > MAX_REFS) return;
    const shortName = name.slice(prefix.length + 1);
    yield { text: segmentOf(shortName), revision: { kind, name: shortName } };
  }
}

async function completePath(
  repo: Repository,
  template: GitTemplate,
  request: CompletionRequest,
  ctx: Context,
): Promise<CompletionValues> {
  const uriTemplate = uriTemplateOf(template);
  const blamed = template.path.startsWith('blame/');
  return completeTreePath(uriTemplate, request, async (segments, prefix): Promise<TreeEntry[]> => {
    const uri = parseUriTemplate(uriTemplate).expand({ ...request.known, path: '' });
    const { address } = parseUri(uri);
    if (!('path' in address)) throw new ResourceError('not-found', 'There is no such revision', { uri });
    const target = await resolveRevision(repo, address.revision, uri, ctx.signal);
    const path = parseUri(`git:///HEAD/${segments.map(encodeURIComponent).join('/')}`).address;
    const entry = await findPath(repo, target.entry, 'path' in path ? path.path : [], uri, ctx.signal);
    if (entry.kind !== 'tree') return [];
    const tree = await repo.trees.read(entry.oid, ctx.signal);
    // Names that begin alike are neighbours. A tilde may begin an escape, which is written in another way in the name.
    const start = toBytes(prefix.split('~', 1)[0] ?? '');
    const found: TreeEntry[] = [];
    const taken = breaks();
    for (let index = tree.from(start); index < tree.length && found.length <= request.limit; index++) {
      const turn = taken();
      if (turn !== undefined) await turn;
      ctx.signal.throwIfAborted();
      const { kind, name } = tree.at(index);
      if (!name.startsWith(start)) break;
      const segment = segmentOf(name);
      if (!segment.startsWith(prefix) || (blamed && kind !== 'tree' && kind !== 'file')) continue;
      found.push({ name: segment, isDirectory: kind === 'tree' });
    }
    return found;
  });
}
