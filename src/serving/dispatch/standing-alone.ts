/** Requests of 2026-07-28, each of which describes its client itself. */

import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { Principal } from '../../core/context.ts';
import type { LoggingLevel } from '../../core/invocation.ts';
import type { Engine } from '../../engine/index.ts';
import type { Data } from '../../protocol/data.ts';
import { metaOf, type RequestMessage } from '../messages.ts';
import { introductionOf } from './capabilities.ts';
import type { Envelope } from './envelope.ts';
import { declaredFeatures } from './invocation.ts';

export const REVISION = '2026-07-28';

/** Makes the envelope of a request. Its `_meta` describes the client. @param from the rest of the envelope, from the wire */
export function standingAlone(
  message: RequestMessage,
  from: Pick<Envelope, 'principal' | 'peer' | 'log' | 'signal' | 'tell' | 'headers' | 'transport'>,
): Envelope {
  const meta = metaOf(message);
  const client = {
    ...declaredFeatures(meta[CLIENT_CAPABILITIES_META_KEY] as Data | undefined),
    logLevel: meta[LOG_LEVEL_META_KEY] as LoggingLevel | undefined,
  };
  return { ...from, message, era: 'modern', client, revision: REVISION, session: undefined, hangUp };
}

/** Does nothing, because no client of 2026-07-28 can come back for an answer. */
const hangUp = (): void => {};

/** The result of `server/discover`. */
export function discovered(engine: Engine, principal: Principal): object {
  const { serverInfo, ...introduction } = introductionOf(engine, principal, 'modern');
  return {
    resultType: 'complete',
    supportedVersions: [REVISION],
    ...introduction,
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { [SERVER_INFO_META_KEY]: serverInfo },
  };
}
