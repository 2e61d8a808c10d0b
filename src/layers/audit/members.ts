/** An operation as the members of its line: most of what an audit costs is here, so nothing is made twice. */
import { hash } from 'node:crypto';
import type { AccessEffect, Decided } from '../../core/access.ts';
import type { Principal } from '../../core/context.ts';
import { inString } from './json.ts';
import type { Operation } from './operation.ts';

/** What a line has of an operation, in this order. */
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
  /** How many alike it stands for. */
  readonly times?: number;
  readonly decision: AccessEffect;
  /** Of the access policy; missing where there is none. */
  readonly rule?: string;
  /** Of a read: what was taken of its content. */
  readonly bytes?: number;
  /** Milliseconds, to the microsecond. */
  readonly ms: number;
  readonly outcome: string;
}

/** Characters of one field; of longer ones the beginning is kept, with the SHA-256 of the whole. */
export const MAX_FIELD_LENGTH = 2_048;

/** @param mountOf the mount that a published URI belongs to */
export function createMembers(mountOf: (uri: string) => string | undefined): (operation: Operation) => string {
  const timeOf = createTimes();
  const whoOf = createWho();
  const decisionOf = createDecisions();
  return (operation) => {
    const { requestId, principal, peer, method, uri, name, times, bytes, micros } = operation;
    const mount = operation.mount ?? (uri === undefined ? undefined : mountOf(uri));
    return (
      `"time":"${timeOf(operation.time)}","requestId":"${field(requestId)}"${whoOf(principal, peer)}` +
      `,"method":"${field(method)}"${member('uri', uri)}${member('name', name)}${member('mount', mount)}` +
      `${count('times', times)}${decisionOf(operation.decided)}${count('bytes', bytes)}` +
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

/** ISO 8601; all but the milliseconds is made once in a second. */
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

/** Who asks; one request comes behind another of the same. */
function createWho(): (principal: Principal, peer: string) => string {
  let last: Principal | undefined;
  let lastPeer = '';
  let text = '';
  return (principal, peer) => {
    if (principal !== last || peer !== lastPeer) {
      text = `,"principal":"${field(principal.id)}"${member('client', principal.clientId)},"peer":"${field(peer)}"`;
      last = principal;
      lastPeer = peer;
    }
    return text;
  };
}

/** What was decided; rules give the same object for the same decision. */
function createDecisions(): (decided: Decided) => string {
  let last: Decided | undefined;
  let text = '';
  return (decided) => {
    if (decided !== last) {
      const { effect, rule } = decided;
      text = `,"decision":"${effect}"${member('rule', rule === '' ? undefined : rule)}`;
      last = decided;
    }
    return text;
  };
}
