/** Records as the members of an object in JSON: one line in visible characters, whatever is in them. */
import type { AuditRecord } from './record.ts';

/** What JSON leaves as it is and a terminal or an eye does not see: other controls, separators, marks of direction. */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Visible characters that JSON leaves as they are: nearly every text that is recorded. */
const PLAIN = /^[\x20!#-[\]-~]*$/;

const visibleJson = (value: unknown): string =>
  JSON.stringify(value).replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** @param record an object that is not empty */
export const visibleMembers = (record: object): string => visibleJson(record).slice(1, -1);

/** A text as it stands between the quotation marks of a string. */
const inString = (text: string): string => (PLAIN.test(text) ? text : visibleJson(text).slice(1, -1));

const member = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `,"${name}":"${inString(text)}"`;

const count = (name: string, value: number | undefined): string => (value === undefined ? '' : `,"${name}":${value}`);

/** As `visibleMembers` has it, field by field: most of what an audit costs is here. */
export const recordMembers = (record: AuditRecord): string =>
  `"time":"${record.time}","requestId":"${inString(record.requestId)}","principal":"${inString(record.principal)}"` +
  member('client', record.client) +
  `,"peer":"${inString(record.peer)}","method":"${inString(record.method)}"` +
  member('uri', record.uri) +
  member('name', record.name) +
  member('mount', record.mount) +
  count('times', record.times) +
  `,"decision":"${record.decision}"` +
  member('rule', record.rule) +
  count('bytes', record.bytes) +
  `,"ms":${record.ms},"outcome":"${inString(record.outcome)}"`;
