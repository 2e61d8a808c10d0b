/** Completes the path of a `scheme:///{+path}` template, segment by segment, for any provider with a tree. */
import { invalid, ResourceError } from '../core/errors.ts';
import type { CompletionRequest, CompletionValues } from '../core/provider.ts';
import { nameProblem } from '../core/uri.ts';

export interface TreeEntry {
  readonly name: string;
  readonly isDirectory: boolean;
}

/** Returns the entries of the folder at `segments` whose names begin with `prefix`, in order; none for a missing folder. */
export type EntriesFrom = (segments: readonly string[], prefix: string) => Promise<Entries>;

type Entries = Iterable<TreeEntry> | AsyncIterable<TreeEntry>;

/** Suggests paths below the folder that is typed so far. @throws ResourceError `invalid` for another template or variable */
export async function completeTreePath(
  template: string,
  request: CompletionRequest,
  entriesFrom: EntriesFrom,
): Promise<CompletionValues> {
  if (request.uriTemplate !== template) throw invalid('There is no such template', request.uriTemplate);
  if (request.variable !== 'path') {
    throw invalid(`The template has one variable, "path", and none named ${JSON.stringify(request.variable)}`);
  }
  const typed = request.value.split('/').map(lenientDecode);
  const prefix = typed.pop() ?? '';
  if (typed.some((name) => nameProblem(name) !== undefined)) return NOTHING;
  const before = typed.map((name) => `${escapeForTemplate(name)}/`).join('');
  const values: string[] = [];
  for await (const { name, isDirectory } of await entriesOrNone(entriesFrom, typed, prefix)) {
    if (values.length >= request.limit) return { values, hasMore: true };
    values.push(`${before}${escapeForTemplate(name)}${isDirectory ? '/' : ''}`);
  }
  return { values, hasMore: false, total: values.length };
}

const NOTHING: CompletionValues = { values: [], hasMore: false, total: 0 };

/** Returns no entries for a folder that is missing or hidden: suggestions must not tell the two apart. */
async function entriesOrNone(entriesFrom: EntriesFrom, segments: readonly string[], prefix: string): Promise<Entries> {
  try {
    return await entriesFrom(segments, prefix);
  } catch (error) {
    if (error instanceof ResourceError && !error.retryable && error.code !== 'internal') return [];
    throw error;
  }
}

/** Escapes `%`, `?` and `#` in a name, because reserved expansion (`{+path}`) copies them as they are. */
const escapeForTemplate = (name: string): string => name.replace(/[%?#]/g, encodeURIComponent);

/** Decodes typed text. A percent sign that begins no escape stays as it is. */
function lenientDecode(text: string): string {
  try {
    return decodeURIComponent(text.replace(/%(?![0-9A-Fa-f]{2})/g, '%25'));
  } catch {
    return text;
  }
}
