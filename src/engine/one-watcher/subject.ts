/** The things of a source that can be watched, each as one text. */
import type { ChangeEvent } from '../../core/provider.ts';
import type { ListName } from '../../protocol/list-name.ts';

/** `uri file:///a.txt`, or one of the lists as in `list resources`. */
export type Subject = string;

const URI = 'uri ';
const LIST = 'list ';

export const resourceSubject = (uri: string | undefined): Subject => (uri === undefined ? LISTED : `${URI}${uri}`);

export const listSubject = (list: ListName): Subject => `${LIST}${list}`;

const LISTED = listSubject('resources');

/** The URI of a resource; undefined for a list. */
export const uriOf = (subject: Subject): string | undefined =>
  subject.startsWith(URI) ? subject.slice(URI.length) : undefined;

/** The list; undefined for a resource. */
export const listOf = (subject: Subject): ListName | undefined =>
  subject.startsWith(LIST) ? (subject.slice(LIST.length) as ListName) : undefined;

/** Tells that it has changed, or may have. */
export function eventOf(subject: Subject): ChangeEvent {
  const uri = uriOf(subject);
  return uri === undefined ? { kind: 'list-changed' } : { kind: 'updated', uri };
}
