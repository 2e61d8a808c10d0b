/** Every text of the explorer's own, in one place so that it can be translated. */

export const LANGUAGE = { lang: 'en', dir: 'ltr' } as const;

/** Names of types that people know. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  'inode/directory': 'folder',
  'application/json': 'JSON',
  'application/pdf': 'PDF',
  'application/toml': 'TOML',
  'application/yaml': 'YAML',
  'application/zip': 'zip archive',
  'image/gif': 'GIF image',
  'image/jpeg': 'JPEG image',
  'image/png': 'PNG image',
  'image/svg+xml': 'SVG drawing',
  'text/csv': 'CSV table',
  'text/html': 'HTML page',
  'text/markdown': 'Markdown',
  'text/plain': 'text',
};

export const TEXTS = {
  skip: 'Skip to content',
  home: 'All mounts',
  breadcrumb: 'Where this is',
  mounts: 'Mounts',
  missing: (mount: string, reason: string) => `${mount} is not there now: ${reason}`,
  name: 'Name',
  type: 'Type',
  size: 'Size',
  changed: 'Changed (UTC)',
  filter: 'Filter the entries of this page',
  apply: 'Filter',
  shown: (shown: number, all: number) => (shown === all ? `${all} on this page` : `${shown} of ${all} on this page`),
  bounded: 'Filter and order are of this page only.',
  next: 'Next page',
  first: 'First page',
  empty: 'There is nothing in here.',
  nothingFits: 'No entry of this page fits the filter; clear it to see all.',
  label: 'Label',
  uri: 'URI',
  bytes: (exact: string) => `${exact} bytes`,
  formats: 'Formats',
  capabilities: 'Capabilities',
  listed: 'can be listed',
  subscribed: 'tells of changes',
  none: 'can be read',
  use: 'Use it',
  raw: 'Open the bytes',
  rawList: 'List for copying',
  withCurl: 'In a terminal',
  withVitrine: 'With Vitrine',
  inHost: 'In the configuration of a host',
  preview: 'Preview',
  window: (from: string, to: string, total: string | undefined) =>
    `Bytes ${from} to ${to}${total === undefined ? '' : ` of ${total}`}`,
  later: 'Further on',
  start: 'From the start',
  binary: 'This is not text; these are its first bytes.',
  parts: 'It has several parts; this is the first.',
  noPreview: 'There is no preview.',
  search: 'Search everything',
  find: 'Search',
  found: (words: string) => `Search for ${words}`,
  byName: 'By name',
  inTexts: 'In texts',
  lines: (first: number, last: number) => (first === last ? `Line ${first}` : `Lines ${first} to ${last}`),
  nothingFound: 'Nothing has these words in its name or text: try fewer of them, or another form.',
  allFound: 'That is all.',
  signIn: 'Sign in',
  signOut: 'Sign out',
  listing: (uri: string) => `List of ${uri}`,
} as const;

/** Texts for the reasons of errors: each says what went wrong, and the one thing to do about it. */
export const PROBLEMS: Readonly<
  Record<string, { readonly status: number; readonly title: string; readonly what: string }>
> = {
  'not-found': {
    status: 404,
    title: 'Not here',
    what: 'There is no such resource, or not any more: go up a folder and look for it there.',
  },
  'not-listable': { status: 400, title: 'Not a folder', what: 'This has no entries: open it as a resource instead.' },
  denied: {
    status: 403,
    title: 'Not for you',
    what: 'You may not see this here: ask whoever runs this server for access.',
  },
  'too-large': {
    status: 413,
    title: 'Too large',
    what: 'This is larger than what is shown at once: open the bytes, or ask for a part of them.',
  },
  timeout: { status: 504, title: 'Too slow', what: 'The source took too long to answer: try again in a moment.' },
  limited: {
    status: 429,
    title: 'Too many requests',
    what: 'More was asked for than is allowed in this time: wait a little and try again.',
  },
  invalid: {
    status: 400,
    title: 'Not an address',
    what: 'This address cannot be understood: go back and follow a link.',
  },
  unavailable: {
    status: 503,
    title: 'Away',
    what: 'The place where this lies does not answer now: try again in a moment.',
  },
  unauthorized: {
    status: 401,
    title: 'A token is needed',
    what: 'Send a token of this server in the Authorization header, as its MCP clients do.',
  },
  'sign-in': {
    status: 403,
    title: 'Not signed in',
    what: 'Signing in did not work: open the page again to try it once more.',
  },
  'signed-out': {
    status: 200,
    title: 'Signed out',
    what: 'You are signed out here. Where you signed in, you may still be known: sign out there, too, if others use this browser.',
  },
  origin: {
    status: 403,
    title: 'Not from there',
    what: 'Pages elsewhere may not use this server: open its address itself.',
  },
  internal: {
    status: 500,
    title: 'Something broke',
    what: 'This server made a mistake: the log of the server has the cause.',
  },
};
