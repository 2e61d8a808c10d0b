/** One operation as the audit file has it: who, what, when, and how it ended. No contents, argument values or tokens. */
import { hash } from 'node:crypto';
import type { AccessEffect, Decided } from '../../core/access.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { isInputRequired } from '../../protocol/input-required.ts';

/** What an operation is about. */
export interface Target {
  readonly method: string;
  readonly uri?: string | undefined;
  readonly name?: string | undefined;
  readonly mount?: string | undefined;
  /** How many alike it stands for; undefined for one. */
  readonly times?: number | undefined;
}

export interface AuditRecord extends Target {
  /** When it began, ISO 8601 in UTC. */
  readonly time: string;
  readonly requestId: string;
  readonly principal: string;
  /** The OAuth client that acts for the principal. */
  readonly client?: string | undefined;
  readonly peer: string;
  /** Allowed, or what kept it from being done. */
  readonly decision: AccessEffect;
  /** Of the access policy; undefined where there is none. */
  readonly rule?: string | undefined;
  /** Of a read: what was taken of its content. */
  readonly bytes?: number | undefined;
  /** Milliseconds. */
  readonly ms: number;
  readonly outcome: string;
}

/** Characters of one field; of longer ones the beginning is kept, with the SHA-256 of the whole. */
export const MAX_FIELD_LENGTH = 2_048;

const ALLOWED: Decided = { effect: 'allow', rule: '' };

export interface StartedRecord<C extends Context> {
  readonly record: (outcome: string, bytes?: number) => AuditRecord;
  /** With which the operation has to run, so that what is decided about it is known. */
  readonly ctx: C;
}

/** Starts the clock for one operation; what it gives makes the record when the operation has ended. */
export function startRecord<C extends Context>(target: Target, ctx: C): StartedRecord<C> {
  const time = now();
  const began = performance.now();
  let decided: Decided = ALLOWED;
  const tell = (by: Decided): void => {
    decided = by;
  };
  const record = (outcome: string, bytes?: number): AuditRecord => ({
    time,
    requestId: cut(ctx.requestId),
    principal: cut(ctx.principal.id),
    client: ctx.principal.clientId === undefined ? undefined : cut(ctx.principal.clientId),
    peer: cut(ctx.peer),
    method: target.method,
    uri: target.uri === undefined ? undefined : cut(target.uri),
    name: target.name === undefined ? undefined : cut(target.name),
    mount: target.mount,
    times: target.times,
    decision: decided.effect,
    rule: decided.rule === '' ? undefined : cut(decided.rule),
    bytes,
    ms: Math.round((performance.now() - began) * 1_000) / 1_000,
    outcome,
  });
  return { record, ctx: { ...ctx, decided: tell } };
}

function cut(text: string): string {
  if (text.length <= MAX_FIELD_LENGTH) return text;
  return `${text.slice(0, MAX_FIELD_LENGTH)}… sha256:${hash('sha256', text)}`;
}

/** How what was answered counts: a tool reports its failures as results, and a question is no answer yet. */
export function outcomeOfResult(result: unknown): string {
  if (typeof result !== 'object' || result === null) return 'ok';
  if (isInputRequired(result)) return 'input-required';
  return 'isError' in result && result.isError === true ? 'failed' : 'ok';
}

/** The code of what was thrown; `cancelled` where the caller was gone before. */
export function outcomeOfError(error: unknown, ctx: Context): string {
  if (error instanceof ResourceError) return error.code;
  return ctx.signal.aborted ? 'cancelled' : 'internal';
}

let lastSecond = Number.NaN;
let untilSecond = '';

/** Now, in ISO 8601; all but the milliseconds is made once in a second. */
function now(): string {
  const ms = Date.now();
  const second = Math.floor(ms / 1_000);
  if (second !== lastSecond) {
    lastSecond = second;
    untilSecond = new Date(second * 1_000).toISOString().slice(0, -'000Z'.length);
  }
  return `${untilSecond}${String(ms - second * 1_000).padStart(3, '0')}Z`;
}
