/** Links to the history of a file in a git repository, by the provider's own URIs (`docs/providers/git.md`). */
import type { Resource } from '../../protocol/resources.ts';

export interface History {
  /** The folder of the commits that changed the file, newest first. */
  readonly log: string;
  /** The author of each line. */
  readonly blame: string;
  /** The changes of a commit to the file. */
  change(commit: string): string;
  /** The file after a commit. */
  after(commit: string): string;
  /** The differences between a commit and the revision of the page. */
  since(commit: string): string;
}

/** Matches the root of the repository, the revision, and the path of the file. */
const FILE = /^((?:[\w.-]+\+)*git:\/\/\/)(HEAD|(?:branches|tags|commits)\/[^/?#]+)\/([^?#]+)$/;

/** @returns undefined for a resource that is not a file of a repository */
export function historyOf({ uri, _meta }: Pick<Resource, 'uri' | '_meta'>): History | undefined {
  const [, root, revision, path] = FILE.exec(uri) ?? [];
  if (root === undefined || _meta?.['vitrine/git'] === undefined) return undefined;
  return {
    log: `${root}log/${revision}/${path}`,
    blame: `${root}blame/${revision}/${path}`,
    change: (commit) => `${root}diff/commits/${commit}/${path}`,
    after: (commit) => `${root}commits/${commit}/${path}`,
    since: (commit) => `${root}compare/commits/${commit}/${revision}/${path}`,
  };
}
