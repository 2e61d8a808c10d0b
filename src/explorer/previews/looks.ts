/** Chooses the preview of a MIME type. */

export type Look = 'text' | 'markdown' | 'table' | 'tree' | 'image' | 'audio' | 'video' | 'hex';

/** The types of images that are drawn: raster only, because a vector image may contain more than a picture. */
const RASTER = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

const TREE = /^(?:application|text)\/(?:[\w.-]+\+)?(?:json|yaml|x-yaml)$/;

const TABLE = /^text\/(?:csv|tab-separated-values)$/;

const TEXT = /^text\/|[/+](?:xml|toml|javascript|x-ndjson|jsonl|sql|x-sh|typescript|rtf)$/;

/** The languages that are highlighted, by type and by the end of a name. */
const LANGUAGES: Readonly<Record<string, string>> = {
  css: 'css',
  diff: 'diff',
  patch: 'diff',
  html: 'xml',
  xml: 'xml',
  svg: 'xml',
  js: 'javascript',
  mjs: 'javascript',
  jsx: 'javascript',
  ts: 'typescript',
  tsx: 'typescript',
  json: 'json',
  yaml: 'yaml',
  yml: 'yaml',
  toml: 'ini',
  ini: 'ini',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  go: 'go',
  java: 'java',
  kt: 'kotlin',
  c: 'c',
  h: 'c',
  cpp: 'cpp',
  cs: 'csharp',
  php: 'php',
  sh: 'bash',
  sql: 'sql',
  md: 'markdown',
  lua: 'lua',
  swift: 'swift',
};

/** Chooses a preview. @param show the view that the user has chosen: `text` or `bytes`; any other value chooses by type */
export function lookOf(type: string, show: string | undefined): Look {
  if (show === 'bytes') return 'hex';
  if (show === 'text') return 'text';
  if (RASTER.test(type)) return 'image';
  if (/^audio\//.test(type)) return 'audio';
  if (/^video\//.test(type)) return 'video';
  if (type === 'text/markdown') return 'markdown';
  if (TABLE.test(type)) return 'table';
  if (TREE.test(type)) return 'tree';
  return TEXT.test(type) || type === 'image/svg+xml' || type === '' ? 'text' : 'hex';
}

/** Returns the language to highlight, by the type or else the end of the name; undefined for plain text. */
export function languageOf(uri: string, type: string): string | undefined {
  const end = /\.(\w{1,8})(?:[?#]|$)/.exec(uri)?.[1]?.toLowerCase() ?? '';
  const [, sub = ''] = type.split('/');
  const of = (key: string): string | undefined => (Object.hasOwn(LANGUAGES, key) ? LANGUAGES[key] : undefined);
  return of(sub.replace(/^x-/, '').replace(/^.*\+/, '')) ?? of(end);
}
