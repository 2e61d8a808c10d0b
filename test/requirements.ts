/**
 * The requirements of Vitrine, clause by clause, as data. Tests cite the ids in their titles, as in `[2093-4]`. `requirements.test.ts`
 * fails if no test over the wire cites a clause that is marked as proved, and if a test cites an unknown clause.
 */

export interface Requirement {
  readonly id: string;
  readonly text: string;
  readonly source: RequirementSource;
  /** `open`: not met, or not completely. */
  readonly status: 'proved' | 'open';
  /** The files and folders that meet it, and the page that describes how, from the root. `docs/guide/security.md` lists them. */
  readonly where: readonly string[];
}

export type RequirementSource =
  | 'SEP-2093'
  | 'SEP-973'
  | 'MCP resources'
  | 'MCP data structures and security'
  | 'MCP tool content blocks';

/** The files, folders and pages of clauses; each clause of `MCP data structures and security` has a line. */
const WHERE: Readonly<Record<string, readonly string[]>> = {
  '2093-10': ['src/client/walk.ts', 'docs/guide/client.md'],
  '973-4': ['src/client/safety/trust.ts', 'src/client/safety/fetch-icon.ts', 'src/client/safety/sanitizer.ts'],
  '973-6': ['src/client/safety/choose-icon.ts', 'src/client/safety/fetch-icon.ts', 'src/config/mount-schema.ts'],
  'RES-10': ['src/layers/limits/rates.ts', 'docs/guide/limits.md'],
  'RES-7': ['src/layers/timeout', 'src/layers/limits', 'docs/layers/timeout.md'],
  'RES-8': ['src/serving/http/tls.ts', 'docs/guide/transport.md'],
  'RES-9': ['src/layers/audit', 'docs/layers/audit.md'],
  'SEC-CAP-1': [
    'src/serving/dispatch/methods.ts',
    'src/serving/dispatch/capabilities.ts',
    'src/layers/access',
    'docs/guide/protocol.md',
  ],
  'SEC-CAP-2': ['src/serving/dispatch/capabilities.ts', 'docs/guide/protocol.md'],
  'SEC-CAP-3': ['src/serving/dispatch/capabilities.ts', 'docs/guide/protocol.md'],
  'SEC-RES-1': ['src/core/uri.ts', 'src/providers/files', 'docs/decisions/0005-opens-what-it-checked.md'],
  'SEC-RES-2': ['src/core/access.ts', 'src/layers/access', 'docs/layers/access.md'],
  'SEC-RES-3': [
    'src/serving/http/endpoint.ts',
    'src/serving/depth.ts',
    'src/layers/limits',
    'src/frontends/resources/encode.ts',
    'docs/guide/limits.md',
  ],
  'SEC-RES-4': [
    'src/core/change-hub.ts',
    'src/core/admission.ts',
    'src/serving/subscriptions.ts',
    'docs/guide/limits.md',
  ],
  'SEC-RES-5': ['src/core/uri-template.ts', 'src/core/uri-template', 'src/providers/http/templates.ts'],
  'SEC-RES-6': [
    'src/layers/mime',
    'src/core/formats/verify-type.ts',
    'src/client/safety/contents.ts',
    'docs/layers/mime.md',
  ],
  'SEC-RES-7': ['src/client/safety', 'docs/guide/client-safety.md'],
  'SEC-RES-8': ['src/layers/access', 'docs/guide/access.md'],
  'SEC-TOOL-1': ['src/frontends/tools', 'src/core/schema/schema.ts', 'src/core/tool.ts', 'docs/guide/library.md'],
  'SEC-TOOL-2': [
    'src/layers/access/named.ts',
    'src/layers/limits/rates.ts',
    'docs/guide/access.md',
    'docs/guide/limits.md',
  ],
  'SEC-TOOL-3': ['src/frontends/resource-tools', 'src/core/text/scrub.ts', 'src/core/errors.ts', 'docs/guide/tools.md'],
  'SEC-TOOL-4': [
    'src/client/guards/tools.ts',
    'src/core/fingerprint.ts',
    'src/providers/upstream/pins/index.ts',
    'docs/guide/client-safety.md',
  ],
  'SEC-TOOL-5': [
    'src/client/guards/flow.ts',
    'src/providers/upstream/pins/index.ts',
    'docs/guide/client-safety.md',
    'docs/guide/gateway.md',
  ],
  'SEC-PROMPT-1': ['src/frontends/prompts/folder', 'docs/guide/prompts.md'],
  'SEC-PROMPT-2': ['src/layers/access/named.ts', 'src/frontends/prompts/folder/embed.ts', 'docs/guide/access.md'],
  'SEC-PROMPT-3': ['src/frontends/prompts/folder', 'docs/guide/prompts.md'],
  'SEC-PROMPT-4': ['src/client/guards/prompts.ts', 'src/cli/client/prompts.ts', 'docs/guide/client-safety.md'],
  'SEC-PROMPT-5': ['src/layers/redact', 'docs/layers/redact.md'],
  'SEC-SAMP-1': ['src/client/guards/sampling.ts', 'src/client/guards/budget.ts', 'docs/guide/client-safety.md'],
  'SEC-SAMP-2': ['src/frontends/resource-tools/summarize.ts', 'docs/guide/asking-the-client.md'],
  'SEC-ROOT-1': ['src/client/guards/roots.ts', 'docs/guide/client-safety.md'],
  'SEC-ROOT-2': ['src/layers/roots', 'docs/layers/roots.md'],
  'SEC-UTIL-1': ['src/core/lists/cursor.ts', 'docs/decisions/0003-cursors.md'],
  'SEC-UTIL-2': ['src/serving/dispatch/invocation.ts', 'docs/guide/protocol.md'],
  'SEC-UTIL-3': ['src/serving/dispatch/invocation.ts', 'docs/guide/asking-the-client.md'],
  'SEC-UTIL-4': ['src/serving/http/floods.ts', 'src/core/text/scrub.ts', 'docs/guide/limits.md'],
  'SEC-UTIL-5': ['src/frontends/completion', 'src/layers/access', 'docs/layers/access.md'],
  'SEC-UTIL-6': [
    'src/connection/intake.ts',
    'src/connection/allowance.ts',
    'src/providers/upstream/said.ts',
    'src/explorer/forms/suggestions.ts',
    'src/cli/completion/offer.ts',
  ],
};

type Row = readonly [id: string, status: Requirement['status'], text: string];

const rows = (source: RequirementSource, table: readonly Row[]): readonly Requirement[] =>
  table.map(([id, status, text]) => ({ id, text, source, status, where: WHERE[id] ?? [] }));

export const REQUIREMENTS: readonly Requirement[] = [
  ...rows('SEP-2093', [
    ['2093-1', 'proved', 'Every item of contents is a full Resource with its text or blob'],
    ['2093-2', 'proved', 'resources/metadata describes a resource in both eras and never reads its content'],
    ['2093-3', 'proved', 'Every resource says whether list and subscribe work on it, and says so truly'],
    ['2093-4', 'proved', 'resources/list with a URI pages through direct children; missing and not listable differ'],
    ['2093-5', 'proved', 'Reading a container gives a bounded set of children, each whole'],
    ['2093-6', 'proved', 'Reading anything else gives one content under the requested URI, maybe in several types'],
    ['2093-7', 'proved', 'From servers without capabilities several URIs in one read are taken; the first is primary'],
    ['2093-8', 'proved', 'A listed type is the primary one; containers are inode/directory'],
    ['2093-9', 'proved', 'Annotations of an embedded resource are sent in the resource, never beside it'],
    ['2093-10', 'proved', 'The client walks cyclic and unbounded trees safely and says which limit it hit'],
    ['2093-11', 'proved', 'Unknown fields survive and absent ones are tolerated, with a fallback for metadata'],
    ['2093-12', 'proved', 'Without capabilities nothing is assumed; for all of a container it is listed, not read'],
    [
      '2093-13',
      'proved',
      'What is read as several URIs, without capabilities, becomes a container with those children',
    ],
    ['2093-14', 'proved', 'Capability fields of others are kept end to end'],
    ['2093-15', 'proved', 'All of it holds for mounted servers, and clients, that know the SEP and no extension'],
  ]),
  ...rows('SEP-973', [
    ['973-1', 'proved', 'Icons and website of the server are configurable and arrive in both eras'],
    ['973-2', 'proved', 'Icons on resources, templates, tools and prompts, with defaults by type and mount'],
    ['973-3', 'proved', 'Icon sizes are sent as an array; a plain string is accepted'],
    ['973-4', 'proved', 'Icons and websites of peers are rendered only from trusted places, and never as live markup'],
    ['973-5', 'proved', 'Icons and website of the client are sent, and those of a peer are shown'],
    ['973-6', 'proved', 'Of several icons the one that fits by size, theme and type is shown'],
  ]),
  ...rows('MCP resources', [
    ['RES-1', 'proved', 'URIs of any scheme'],
    ['RES-2', 'proved', 'Text as UTF-8, everything else in base64; a missing resource is an error'],
    ['RES-3', 'proved', 'Resource templates, with completion of their variables'],
    ['RES-4', 'proved', 'Changes of the list and of subscribed resources are told, in both eras'],
    ['RES-5', 'proved', 'Files, databases, APIs, live data, images and logs, each by a provider with an example'],
    ['RES-6', 'proved', 'Every list is paged; names, types, freshness and errors are of use'],
    ['RES-7', 'proved', 'Long operations time out, and what was held is released at the end'],
    ['RES-8', 'proved', 'TLS when configured'],
    ['RES-9', 'proved', 'Access to resources is audited'],
    ['RES-10', 'proved', 'Reads are rate-limited by principal'],
    ['RES-11', 'proved', 'A template has the type of all that match, with title, description and icons'],
  ]),
  ...rows('MCP data structures and security', [
    ['SEC-CAP-1', 'proved', 'What is declared works, and what is not declared is a protocol error'],
    ['SEC-CAP-2', 'proved', 'Experimental features are off until asked for by name'],
    ['SEC-CAP-3', 'proved', 'Nothing is declared that never happens'],
    ['SEC-RES-1', 'proved', 'No spelling, link or race leaves the root of a mount'],
    ['SEC-RES-2', 'proved', 'Authorization before every operation; the denied may look like the missing'],
    ['SEC-RES-3', 'proved', 'Sizes of reads and requests are limited, and the limit stops the work early'],
    ['SEC-RES-4', 'proved', 'Subscriptions are limited, and storms of updates become few'],
    ['SEC-RES-5', 'proved', 'Templates expand and match injection-safe and in linear time'],
    ['SEC-RES-6', 'proved', 'Types are verified from content, by the server and by the client'],
    ['SEC-RES-7', 'proved', 'The client handles content safely by its type'],
    ['SEC-RES-8', 'proved', 'Rules may allow to list and not to read, and to read and not to list'],
    ['SEC-TOOL-1', 'proved', 'Arguments and results of tools are validated'],
    ['SEC-TOOL-2', 'proved', 'Authorization and rate limits for tools'],
    ['SEC-TOOL-3', 'proved', 'Output of tools is bounded and free of internals'],
    ['SEC-TOOL-4', 'proved', 'As a client, tools are not trusted and not changed unseen'],
    [
      'SEC-TOOL-5',
      'proved',
      'A result makes no call by itself, and what one server gives can be held back from another',
    ],
    ['SEC-PROMPT-1', 'proved', 'Arguments of prompts stay in their place'],
    ['SEC-PROMPT-2', 'proved', 'Prompts and what they embed are authorised'],
    ['SEC-PROMPT-3', 'proved', 'Prompts are bounded in size and work'],
    ['SEC-PROMPT-4', 'proved', 'As a client, prompts are shown whole before they are used'],
    ['SEC-PROMPT-5', 'proved', 'Texts of prompts are redacted and limited like resources'],
    ['SEC-SAMP-1', 'proved', 'As a client, sampling needs consent and has limits'],
    ['SEC-SAMP-2', 'proved', 'As a server, sampling is used where declared, with what the principal may read'],
    ['SEC-ROOT-1', 'proved', 'As a client, only intended roots are exposed'],
    ['SEC-ROOT-2', 'proved', 'As a server, a mount can be bounded by the roots of the client'],
    ['SEC-UTIL-1', 'proved', 'Cursors are opaque, authenticated, bound to principal and request, and expire'],
    ['SEC-UTIL-2', 'proved', 'Cancellation stops the work, and only that of the same peer'],
    ['SEC-UTIL-3', 'proved', 'Progress is for active tokens, monotonic, limited and harmless'],
    ['SEC-UTIL-4', 'proved', 'Pings and logs are bounded and scrubbed'],
    ['SEC-UTIL-5', 'proved', 'Completion is authorised, filtered, bounded and limited'],
    [
      'SEC-UTIL-6',
      'proved',
      'As a client, cursors are opaque, floods are bounded, and logs are clean before they are shown',
    ],
  ]),
  ...rows('MCP tool content blocks', [
    ['CB-1', 'proved', 'Several servers and providers in one tree, with identities and URIs kept whole'],
    ['CB-2', 'proved', 'Tools that list resources and templates, with filters'],
    ['CB-3', 'proved', 'Windowed reads by a tool'],
    ['CB-4', 'proved', 'Embedded reads by a tool'],
    ['CB-5', 'proved', 'Plain reads by a tool'],
    ['CB-6', 'proved', 'All forms of reading in one tool, and as tools of their own'],
    ['CB-7', 'proved', 'A search tool that embeds what it finds'],
    ['CB-8', 'proved', 'Tools for subscriptions'],
    ['CB-9', 'open', 'The cost of each form is measured'],
    ['CB-10', 'proved', 'Reads by a server and its own URI, of nothing but metadata, and in windows over one format'],
    ['CB-11', 'open', 'Other consumers render what is embedded, and the forms that clients ask for are counted'],
  ]),
];
