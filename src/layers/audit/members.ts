/** Writes an operation as the members of its line. This is the most expensive part of the audit, so texts are reused. */
import { hash } from 'node:crypto';
import type { AccessEffect, Decided } from '../../core/decided.ts';
import { inString } from './json.ts';
import type { Operation } from './operation.ts';

/** The members of a line about an operation, in this order. */
export interface AuditRecord {
  /** When it began, ISO 8601 in UTC. */
  readonly time: string;
  readonly requestId: string;
  readonly principal: string;
  /** The OAuth client that acts for the principal. */
  readonly client?: string;
  readonly peer: string;
  readonly method: string;
  readonly uri?: string;
  readonly name?: string;
  readonly mount?: string;
  /** The number of equal operations that it stands for. */
  readonly times?: number;
  readonly decision: AccessEffect;
  /** The rule of the access policy; left out without one. */
  readonly rule?: string;
  /** The bytes of content that a read returned. */
  readonly bytes?: number;
  /** Milliseconds, with microseconds as decimals. */
  readonly ms: number;
  readonly outcome: string;
}

/** The most characters of one field; a longer one is cut, with the SHA-256 of the whole. */
export const MAX_FIELD_LENGTH = 2_048;

/** @param mountOf returns the mount of a published URI */
export function createMembers(mountOf: (uri: string) => string | undefined): (operation: Operation) => string {
  const timeOf = createTimes();
  const callerOf = createCallers();
  const verdictOf = createVerdicts();
  const uriOf = createUris();
  return (operation) => {
    const { requestId, uri, name, bytes, micros } = operation;
    const mount = operation.mount ?? (uri === undefined ? undefined : mountOf(uri));
    return (
      `"time":"${timeOf(operation.time)}","requestId":"${field(requestId)}"${callerOf(operation)}` +
      `${uriOf(uri)}${member('name', name)}${verdictOf(mount, operation)}${count('bytes', bytes)}` +
      `,"ms":${Math.trunc(micros / 1_000)}.${THREE_DIGITS[micros % 1_000]},"outcome":"${field(operation.outcome)}"`
    );
  };
}

const field = (text: string): string =>
  inString(
    text.length <= MAX_FIELD_LENGTH ? text : `${text.slice(0, MAX_FIELD_LENGTH)}… sha256:${hash('sha256', text)}`,
  );

const member = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `,"${name}":"${field(text)}"`;

const count = (name: string, value: number | undefined): string => (value === undefined ? '' : `,"${name}":${value}`);

const THREE_DIGITS: readonly string[] = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(3, '0'));

/** Formats ISO 8601 times; computes everything except the milliseconds once per second. */
function createTimes(): (ms: number) => string {
  let last = Number.NaN;
  let untilSecond = '';
  return (ms) => {
    const second = Math.floor(ms / 1_000);
    if (second !== last) {
      last = second;
      untilSecond = new Date(second * 1_000).toISOString().slice(0, -'000Z'.length);
    }
    return `${untilSecond}${THREE_DIGITS[ms - second * 1_000]}Z`;
  };
}

/** Writes the caller and the method; reuses the text while both stay the same. */
function createCallers(): (operation: Operation) => string {
  let last: Pick<Operation, 'principal' | 'peer' | 'method'> | undefined;
  let text = '';
  return (operation) => {
    const { principal, peer, method } = operation;
    if (last?.principal !== principal || last.peer !== peer || last.method !== method) {
      const who = `,"principal":"${field(principal.id)}"${member('client', principal.clientId)},"peer":"${field(peer)}"`;
      text = `${who},"method":"${field(method)}"`;
      last = { principal, peer, method };
    }
    return text;
  };
}

/** Writes the URI; reuses the text while the URI stays the same. */
function createUris(): (uri: string | undefined) => string {
  let last: string | undefined;
  let text = '';
  return (uri) => {
    if (last !== uri) {
      text = member('uri', uri);
      last = uri;
    }
    return text;
  };
}

/** Writes the mount and the decision; rules return the same object for the same decision, so the text is reused. */
function createVerdicts(): (mount: string | undefined, operation: Operation) => string {
  let last: (Pick<Operation, 'mount' | 'times'> & { readonly decided: Decided }) | undefined;
  let text = '';
  return (mount, { decided, times }) => {
    if (last?.decided !== decided || last.mount !== mount || last.times !== times) {
      const rule = decided.rule === '' ? undefined : decided.rule;
      text = `${member('mount', mount)}${count('times', times)},"decision":"${decided.effect}"${member('rule', rule)}`;
      last = { decided, mount, times };
    }
    return text;
  };
}
