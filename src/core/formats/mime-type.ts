/** Finds the MIME type that a file name claims. The mime layer verifies it against the bytes. */
import mime from 'mime';

/** Types that the registry lacks, or has for other files than those of today (`.ts` is not video). */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  astro: 'text/plain',
  bat: 'text/plain',
  c: 'text/x-c',
  cc: 'text/x-c++',
  cfg: 'text/plain',
  cjs: 'text/javascript',
  clj: 'text/x-clojure',
  cpp: 'text/x-c++',
  cs: 'text/x-csharp',
  cts: 'text/typescript',
  dart: 'text/x-dart',
  diff: 'text/x-diff',
  ex: 'text/x-elixir',
  exs: 'text/x-elixir',
  go: 'text/x-go',
  gql: 'application/graphql',
  graphql: 'application/graphql',
  h: 'text/x-c',
  hpp: 'text/x-c++',
  hs: 'text/x-haskell',
  ini: 'text/plain',
  ipynb: 'application/x-ipynb+json',
  java: 'text/x-java',
  jl: 'text/x-julia',
  jsonl: 'application/jsonl',
  jsx: 'text/javascript',
  kt: 'text/x-kotlin',
  lock: 'text/plain',
  log: 'text/plain',
  lua: 'text/x-lua',
  mts: 'text/typescript',
  ndjson: 'application/x-ndjson',
  patch: 'text/x-diff',
  php: 'text/x-php',
  pl: 'text/x-perl',
  properties: 'text/plain',
  proto: 'text/plain',
  ps1: 'text/plain',
  pub: 'text/plain',
  py: 'text/x-python',
  pyi: 'text/x-python',
  r: 'text/x-r',
  rb: 'text/x-ruby',
  rs: 'text/x-rust',
  scala: 'text/x-scala',
  scss: 'text/x-scss',
  sh: 'text/x-shellscript',
  sqlite: 'application/vnd.sqlite3',
  svelte: 'text/plain',
  swift: 'text/x-swift',
  tex: 'text/x-tex',
  tf: 'text/plain',
  toml: 'application/toml',
  ts: 'text/typescript',
  tsv: 'text/tab-separated-values',
  tsx: 'text/typescript',
  vue: 'text/plain',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zig: 'text/x-zig',
};

/** Files that are known by their whole name, lower case. */
const BY_NAME: Readonly<Record<string, string>> = {
  authors: 'text/plain',
  changelog: 'text/plain',
  copying: 'text/plain',
  dockerfile: 'text/x-dockerfile',
  gemfile: 'text/x-ruby',
  license: 'text/plain',
  licence: 'text/plain',
  makefile: 'text/x-makefile',
  notice: 'text/plain',
  readme: 'text/plain',
};

/** Returns the type that a name claims, without parameters; undefined when the name claims none. */
export function mimeTypeOfName(name: string): string | undefined {
  const lower = name.toLowerCase();
  const dot = lower.lastIndexOf('.');
  if (dot <= 0) return entryOf(BY_NAME, lower);
  const extension = lower.slice(dot + 1);
  return entryOf(BY_EXTENSION, extension) ?? mime.getType(extension) ?? undefined;
}

function entryOf(table: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
