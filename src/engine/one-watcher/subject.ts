/** Names the things of a source that can be watched: a resource or a list. */
import type { ChangeEvent } from '../../core/provider.ts';
import type { ListName } from '../../protocol/list-name.ts';

/** `uri file:///a.txt`, or one of the lists as in `list resources`. */
export type Subject = string;

const URI = 'uri ';
const LIST = 'list ';

export const resourceSubject = (uri: string | undefined): Subject => (uri === undefined ? LISTED : `${URI}${uri}`);

export const listSubject = (list: ListName): Subject => `${LIST}${list}`;

const LISTED = listSubject('resources');

/** Returns the URI of a resource; undefined for a list. */
export const uriOf = (subject: Subject): string | undefined =>
  subject.startsWith(URI) ? subject.slice(URI.length) : undefined;

/** Returns the name of a list; undefined for a resource. */
export const listOf = (subject: Subject): ListName | undefined =>
  subject.startsWith(LIST) ? (subject.slice(LIST.length) as ListName) : undefined;

/** Makes the event that says that a subject has changed or may have changed. */
export function eventOf(subject: Subject): ChangeEvent {
  const uri = uriOf(subject);
  return uri === undefined ? { kind: 'list-changed' } : { kind: 'updated', uri };
}
