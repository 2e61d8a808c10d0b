/** Connects a running request with its client: gives it the client's earlier answers, and sends its progress and log messages. */

import { createHash } from 'node:crypto';
import type { ClientFeatures, Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { Invocation, LoggingLevel, OtherFields } from '../../core/invocation.ts';
import { keyed } from '../../core/keyed.ts';
import type { CursorScope } from '../../core/lists/cursor.ts';
import { scrub, scrubData } from '../../core/text/scrub.ts';
import type { Engine } from '../../engine/index.ts';
import { type Data, isData } from '../../protocol/data.ts';
import type { Round } from './asking.ts';
import type { Envelope } from './envelope.ts';
import { offersTo } from './methods.ts';

/** The shortest average time between two progress reports, in milliseconds. A report that reaches its total is always sent. */
const PROGRESS_INTERVAL_MS = 100;

/** This many reports may follow each other faster, so that short work can send all of its reports. */
const PROGRESS_BURST = 10;

/** The most log messages that one request may send to its client. */
const MAX_LOG_MESSAGES = 100;

/** The levels of log messages, the least severe first (RFC 5424). */
export const LOGGING_LEVELS: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** A running request. */
export interface Running {
  /** Makes the invocation for one round of questions. @throws ResourceError `invalid` for altered state */
  invoke(round: Round): Invocation;
  /** Ends notifications: nothing more is sent about a request that has been answered (SEC-UTIL-3). */
  end(): void;
}

/** @param params the checked parameters */
export function startInvocation(engine: Engine, envelope: Envelope, params: Data, ctx: Context): Running {
  const { message, client } = envelope;
  const { method } = message;
  let ended = false;
  const tell: Envelope['tell'] = (notification) => {
    if (ended) return;
    try {
      envelope.tell(notification);
    } catch (error) {
      // A tool may send data that JSON cannot express. The tool must not fail for that.
      ctx.log.debug('a notification was not sent', { error });
    }
  };
  const shown = shownBy(engine);
  const token = (params._meta as Data | undefined)?.progressToken;
  const scope = (): CursorScope => scopeOf(method, params, ctx);
  const connection = {
    client,
    wantsProgress: token !== undefined,
    progress: token === undefined ? ignore : progressOf(token, tell, shown),
    notify: notifierOf(engine, envelope, tell, shown),
    hangUp: () => envelope.hangUp(),
    seal: (state: unknown) => engine.resources.cursors.seal(JSON.stringify(state), scope()),
  };
  return {
    // The state is opened before anything runs, so that altered state is an error of the request, not of a tool.
    invoke: ({ answers, state }) => ({
      ...ctx,
      ...connection,
      answers: bareAnswers(answers),
      state: state === undefined ? undefined : openState(engine, state, scope()),
    }),
    end() {
      ended = true;
    },
  };
}

const ignore = (): void => {};

/** Returns the client's answers by key. In 2026-07-28 an answer is a bare result; one that is wrapped in a message is dropped. */
function bareAnswers(given: unknown): Invocation['answers'] {
  if (!isData(given)) return keyed(undefined);
  const bare = Object.entries(given).filter(
    ([, answer]) => isData(answer) && !('method' in answer) && !('result' in answer),
  );
  return keyed(Object.fromEntries(bare));
}

/** Prepares a text for clients (SEC-UTIL-4). Secrets are hidden before the text is cut: a cut secret would not be found. */
const shownBy =
  ({ hide }: Engine) =>
  (text: string): string =>
    scrub(hide === undefined ? text : hide(text));

/** The scope of sealed state: one principal, method and parameters. */
const scopeOf = (method: string, params: Data, { principal }: Context): CursorScope => ({
  principal: principal.id,
  method: `${method} state`,
  parameters: [digest(params)],
});

/** A hash of the parameters without `_meta`. */
function digest(params: Data): string {
  const { _meta, ...rest } = params;
  return createHash('sha256').update(JSON.stringify(rest)).digest('base64url');
}

/** @throws ResourceError `invalid` for state that was not sealed for this request */
function openState(engine: Engine, state: unknown, scope: CursorScope): unknown {
  if (typeof state !== 'string') throw invalid('The request state was not made by this server');
  try {
    return JSON.parse(engine.resources.cursors.open(state, scope));
  } catch (cause) {
    throw invalid('The request state is not valid for this request or has expired; call again without it').withCause(
      cause,
    );
  }
}

/** The kinds of question that a client can be asked, by its declared capabilities. */
export function declaredFeatures(declared: Data | undefined): ClientFeatures {
  return {
    elicitation: takesForms(declared?.elicitation),
    sampling: declared?.sampling !== undefined,
    roots: declared?.roots !== undefined,
    declared,
  };
}

/** Vitrine's questions are forms. A client that declares no mode accepts forms. */
function takesForms(declared: unknown): boolean {
  if (declared === undefined || declared === null) return false;
  const { form, url } = declared as Data;
  return form !== undefined || url === undefined;
}

/** The other fields of a mounted server's notification, scrubbed like its text. */
const othersOf = (others: OtherFields | undefined, shown: (text: string) => string): object =>
  others === undefined ? {} : (scrubData(others, shown) as object);

function progressOf(token: unknown, tell: Envelope['tell'], shown: (text: string) => string): Invocation['progress'] {
  let latest = Number.NEGATIVE_INFINITY;
  let left = PROGRESS_BURST;
  let countedAt = Date.now();
  return (progress, total, message, others) => {
    if (progress <= latest) return;
    const earned = Math.floor((Date.now() - countedAt) / PROGRESS_INTERVAL_MS);
    countedAt += earned * PROGRESS_INTERVAL_MS;
    left = Math.min(PROGRESS_BURST, left + earned);
    const ends = total !== undefined && progress >= total;
    if (left < 1 && !ends) return;
    left = Math.max(0, left - 1);
    latest = progress;
    tell({
      method: 'notifications/progress',
      params: {
        ...othersOf(others, shown),
        progressToken: token,
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message: shown(message) }),
      },
    });
  };
}

/** Sends messages of the level that the client asked for, or above. In 2026-07-28 a request without a level gets none. */
function notifierOf(
  engine: Engine,
  { era, principal, client: { logLevel } }: Envelope,
  tell: Envelope['tell'],
  shown: (text: string) => string,
): Invocation['notify'] {
  if (logLevel === undefined && era === 'modern') return ignore;
  // A client that is offered no tools was not offered logging either, so nothing is sent.
  if (!offersTo(engine, principal)('tools/list')) return ignore;
  const least = logLevel === undefined ? 0 : LOGGING_LEVELS.indexOf(logLevel);
  let sent = 0;
  return (level: LoggingLevel, data: unknown, logger: string | null = 'vitrine', others?: OtherFields) => {
    if (LOGGING_LEVELS.indexOf(level) < least || sent >= MAX_LOG_MESSAGES) return;
    sent++;
    const fields = { level, data: scrubData(data, shown), ...(logger !== null && { logger: shown(logger) }) };
    tell({ method: 'notifications/message', params: { ...othersOf(others, shown), ...fields } });
  };
}
