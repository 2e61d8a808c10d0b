/** How much one statement may take, by the options of the mount and by who asks. */
import type { Context } from '../../core/context.ts';
import { type Caller, SERVER } from '../../core/waiting/fair-queue.ts';
import type { SqlConfig } from './config.ts';
import type { Limits } from './dialect.ts';

/** A statement is for somebody, or for the server itself. */
export type LimitsOf = (asker: Pick<Context, 'principal' | 'signal'> | AbortSignal, asked?: Asked) => Limits;

type Asked = { readonly [K in 'maxRows' | 'maxBytes' | 'maxValueBytes']?: number | undefined };

export const limitsFor =
  ({ pageRows, maxBytes, maxValueBytes, statementTimeoutSeconds }: SqlConfig): LimitsOf =>
  (asker, asked = {}) => ({
    maxRows: asked.maxRows ?? pageRows,
    maxBytes: Math.min(asked.maxBytes ?? maxBytes, maxBytes),
    maxValueBytes: asked.maxValueBytes ?? maxValueBytes,
    timeoutMs: statementTimeoutSeconds * 1_000,
    ...askedBy(asker),
  });

const askedBy = (asker: Parameters<LimitsOf>[0]): { readonly caller: Caller; readonly signal: AbortSignal } =>
  asker instanceof AbortSignal
    ? { caller: SERVER, signal: asker }
    : { caller: asker.principal.id, signal: asker.signal };
