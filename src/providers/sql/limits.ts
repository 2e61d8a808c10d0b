/** Makes the limits of one statement from the options of the mount and from its caller. */
import type { Context } from '../../core/context.ts';
import { type Caller, SERVER } from '../../core/waiting/fair-queue.ts';
import type { SqlConfig } from './config.ts';
import type { Limits } from './dialect.ts';

/** @param asker the context of a request; only a signal if the server itself needs the statement */
export type LimitsOf = (asker: Pick<Context, 'principal' | 'signal'> | AbortSignal, wanted?: Wanted) => Limits;

type Wanted = { readonly [K in 'maxRows' | 'maxBytes' | 'maxValueBytes']?: number | undefined };

export const limitsFor =
  ({ pageRows, maxBytes, maxValueBytes, statementTimeoutSeconds }: SqlConfig): LimitsOf =>
  (asker, wanted = {}) => ({
    maxRows: wanted.maxRows ?? pageRows,
    maxBytes: Math.min(wanted.maxBytes ?? maxBytes, maxBytes),
    maxValueBytes: wanted.maxValueBytes ?? maxValueBytes,
    timeoutMs: statementTimeoutSeconds * 1_000,
    ...callerOf(asker),
  });

const callerOf = (asker: Parameters<LimitsOf>[0]): { readonly caller: Caller; readonly signal: AbortSignal } =>
  asker instanceof AbortSignal
    ? { caller: SERVER, signal: asker }
    : { caller: asker.principal.id, signal: asker.signal };
