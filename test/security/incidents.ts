/**
 * Public attacks on MCP servers, and the words by which the titles of their tests name them. The table in `docs/guide/security.md` is
 * generated from this, and each entry must have a test.
 */

export interface Incident {
  /** The title of a test contains one of these: ids of the CVE list, or a few words if there is none. */
  readonly cited: readonly string[];
  /** The incident in the attacked server. */
  readonly what: string;
  /** How Vitrine prevents it. Markdown, in one line. */
  readonly here: string;
}

export const INCIDENTS: readonly Incident[] = [
  {
    cited: ['CVE-2025-53109'],
    what: 'The reference filesystem server followed a link out of the folder',
    here: 'what was opened is asked where it lies; links count only while they stay inside',
  },
  {
    cited: ['CVE-2025-53110'],
    what: 'The same server compared paths by their beginning, so `/srv/docs-secret` was in `/srv/docs`',
    here: 'paths are compared name by name',
  },
  {
    cited: ['CVE-2025-68143'],
    what: 'The reference git server made a repository of any folder that a caller named',
    here: 'no caller chooses what is started, or where',
  },
  {
    cited: ['CVE-2025-68144'],
    what: 'The same server passed arguments on that git took for options',
    here: 'ripgrep and git are started without a shell, and text of a caller stands only where neither takes it for an option',
  },
  {
    cited: ['CVE-2025-68145', 'CVE-2026-27735'],
    what: 'The same server took paths outside of the repository that it was told to keep to',
    here: 'a search, and git, stay in what their mount shows',
  },
  {
    cited: ['CVE-2026-32871'],
    what: 'FastMCP joined a variable into the URL of an API unencoded: a request to elsewhere, with credentials',
    here: 'templates are expanded and matched by RFC 6570, and a value stays a value',
  },
  {
    cited: ['CVE-2026-0621'],
    what: 'The TypeScript SDK matched URI templates by expressions that backtrack, and hung',
    here: 'matching takes linear time, without regular expressions of templates',
  },
  {
    cited: ['CVE-2026-25536'],
    what: 'In the TypeScript SDK, clients that shared a server object got answers of each other',
    here: 'an answer goes to the exchange that it belongs to; each session has its own state',
  },
  {
    cited: ['CVE-2025-66414', 'CVE-2025-66416', 'CVE-2026-34742'],
    what: 'The TypeScript, Python and Go SDKs did not look at `Host` by default: DNS rebinding',
    here: '`Host` and `Origin` are checked before anything else, always',
  },
  {
    cited: ['CVE-2026-26118'],
    what: 'The Azure MCP Server asked an address that a caller had named, with its own credentials',
    here: 'nothing that a caller, a resource or a mounted server names is fetched, but the authorization server of a mount that is configured to have one',
  },
  {
    cited: ['SQL injection'],
    what: 'The reference SQLite server made text of a caller a part of its queries',
    here: 'nothing is put together from text: patterns go to linear-time engines as patterns',
  },
  {
    cited: ['read skips the check that list has'],
    what: 'A server filtered its lists by who asked, and its reads not',
    here: 'one function decides for every way in',
  },
  {
    cited: ['resource URIs need a corpus of their own'],
    what: 'Public collections of attacks aim at parameters of tools only',
    here: 'a corpus of hostile URIs is driven at every way in',
  },
];
