/** A commit as a document: who, when, why, where it comes from, and what it changed, as Markdown or JSON. */
import type { Context } from '../../core/context.ts';
import { type Address, linkTo, type Revision } from './address.ts';
import { type ChangedFile, changedFiles, seenFiles } from './changes.ts';
import type { Commit, Signature } from './commits.ts';
import type { Repository, Target } from './find.ts';
import { segmentOf, toShown } from './names.ts';

/** The most changed files that are named; the diff has all of them. */
const MAX_FILES = 1_000;

/** The most characters that are shown of the first line of a message, and of the text after it. */
const MAX_MESSAGE = 65_536;

interface Facts {
  readonly repo: Repository;
  readonly commit: Commit;
  readonly files: readonly ChangedFile[];
  readonly more: boolean;
}

export async function factsOf(repo: Repository, target: Target, commit: Commit, ctx: Context): Promise<Facts> {
  const [parent] = commit.parents;
  const known = parent === undefined ? undefined : await repo.objects.info(parent, ctx.signal);
  const before = parent === undefined || known === undefined ? undefined : await repo.commits.read(parent, ctx.signal);
  const base: Target | undefined = before && {
    commit: before,
    entry: { kind: 'tree', mode: '40000', oid: before.tree },
  };
  // A commit whose parents a shallow repository lacks would seem to have added everything.
  if (parent !== undefined && base === undefined) return { repo, commit, files: [], more: true };
  const { files, more } = await changedFiles(repo, base, target, MAX_FILES, ctx);
  return { repo, commit, files: await seenFiles(files, base, target, ctx), more };
}

const revisionOf = (oid: string): Revision => ({ kind: 'commit', oid });

/** Returns the address of a file at the commit; for a deleted file, at its first parent. */
function fileAddress({ oid, parents }: Commit, { change, path }: ChangedFile): Address {
  const at = change === 'deleted' ? (parents[0] ?? oid) : oid;
  return { kind: 'tree', revision: revisionOf(at), path: path.split('/') };
}

/** Cuts a part of a message. Half of a character that the cut leaves becomes U+FFFD, because strict JSON parsers refuse it. */
const shownPart = (text: string): string => text.slice(0, MAX_MESSAGE).toWellFormed();

const shownPath = (path: string): string => path.split('/').map(segmentOf).join('/');

export function commitJson({ repo, commit, files, more }: Facts): string {
  const { oid, tree, parents, author, committer, subject, body } = commit;
  const revision = revisionOf(oid);
  const document = {
    commit: oid,
    tree,
    author,
    committer,
    subject: shownPart(subject),
    body: shownPart(body),
    parents: parents.map((parent) => ({
      commit: parent,
      link: linkTo(repo, { kind: 'commit', revision: revisionOf(parent) }),
    })),
    files: files.map((file) => ({
      path: toShown(file.path),
      change: file.change,
      link: linkTo(repo, fileAddress(commit, file)),
    })),
    ...(more && { moreFiles: true }),
    links: {
      tree: linkTo(repo, { kind: 'tree', revision, path: [] }),
      diff: linkTo(repo, { kind: 'diff', revision, path: [] }),
      history: linkTo(repo, { kind: 'log', revision, path: [] }),
    },
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

export function commitMarkdown({ repo, commit, files, more }: Facts): string {
  const { oid, parents, author, committer, subject, body } = commit;
  const revision = revisionOf(oid);
  const link = (text: string, address: Address): string => `[${escaped(text)}](${linkTo(repo, address)})`;
  const same = author.name === committer.name && author.email === committer.email && author.date === committer.date;
  return [
    `# ${escaped(shownPart(subject)) || 'A commit without a message'}`,
    '',
    `- Commit: \`${oid}\``,
    `- Author: ${signed(author)}`,
    ...(same ? [] : [`- Committer: ${signed(committer)}`]),
    ...parents.map((parent) => `- Parent: ${link(parent, { kind: 'commit', revision: revisionOf(parent) })}`),
    `- ${link('Files', { kind: 'tree', revision, path: [] })}, ${link('changes', { kind: 'diff', revision, path: [] })}, ${link('history', { kind: 'log', revision, path: [] })}`,
    ...(body === '' ? [] : ['', fenced(shownPart(body))]),
    '',
    '## Changed files',
    '',
    ...files.map((file) => `- ${file.change}: ${link(shownPath(file.path), fileAddress(commit, file))}`),
    ...(more ? ['- more, which are in the changes'] : []),
    ...(files.length === 0 && !more ? ['None.'] : []),
    '',
  ].join('\n');
}

const signed = ({ name, email, date }: Signature): string =>
  `${escaped(name)} \`<${email.replaceAll('`', '')}>\`${date === undefined ? '' : `, ${date}`}`;

/**
 * Escapes markup in text that others wrote, and makes one line of it. `_` within a word is no markup, and has to stay as it is, so
 * that secrets such as `ghp_...` are found in the document.
 */
const escaped = (text: string): string =>
  text.replace(/[\\`*{}[\]<>#|!]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&').replace(/[\r\n]+/g, ' ');

/** Writes text as a code block, which shows it unchanged whatever fences are in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
