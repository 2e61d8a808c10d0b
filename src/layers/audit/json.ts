/** Records as JSON: one line in visible characters, whatever is in them. */
import type { AuditRecord } from './record.ts';

/** What JSON leaves as it is and a terminal or an eye does not see: other controls, separators, marks of direction. */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Visible characters that JSON leaves as they are: nearly every text that is recorded. */
const PLAIN = /^[\x20!#-[\]-~]*$/;

export const visibleJson = (value: unknown): string =>
  JSON.stringify(value).replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : visibleJson(text));

const member = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `,"${name}":${quoted(text)}`;

const count = (name: string, value: number | undefined): string => (value === undefined ? '' : `,"${name}":${value}`);

/** As `visibleJson` has it, field by field: most of what an audit costs is here. */
export const recordJson = (record: AuditRecord): string =>
  `{"time":"${record.time}","requestId":${quoted(record.requestId)},"principal":${quoted(record.principal)}` +
  member('client', record.client) +
  `,"peer":${quoted(record.peer)},"method":${quoted(record.method)}` +
  member('uri', record.uri) +
  member('name', record.name) +
  member('mount', record.mount) +
  count('times', record.times) +
  `,"decision":"${record.decision}"` +
  member('rule', record.rule) +
  count('bytes', record.bytes) +
  `,"ms":${record.ms},"outcome":${quoted(record.outcome)}}`;
