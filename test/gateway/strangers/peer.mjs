/** A server of somebody else, as its author wrote it: a table of methods, spoken in either era without anybody's SDK. */
import {
  CAPABILITIES_KEY,
  CLIENT_KEY,
  LEGACY_VERSION,
  LOG_LEVEL_KEY,
  MODERN_VERSION,
  SERVER_KEY,
  SUBSCRIPTION_KEY,
  VERSION_KEY,
  WireError,
} from '../fixture/protocol.mjs';

/**
 * @typedef {Record<string, any>} Data
 * @typedef {object} Call
 * @property {Data} params
 * @property {boolean} modern
 * @property {Data} client its capabilities
 * @property {Data} who the `clientInfo` of the client
 * @property {string | undefined} level of log messages that the client wants
 * @property {(method: string, params?: Data) => Promise<any>} ask of 2025: a request to the client
 * @property {(method: string, params: Data) => void} tell a notification in the course of the request
 * @property {(method: string) => number} count how often a method was asked for, over all connections of the process
 *
 * @typedef {object} Stranger
 * @property {Data} identity its `serverInfo`, as it is sent
 * @property {Data | ((modern: boolean) => Data)} capabilities
 * @property {string} [instructions]
 * @property {Record<string, (call: Call) => Data | Promise<Data>>} methods results; those of lists need no hints
 * @property {(call: Pick<Call, 'client' | 'ask'>) => void} [initialized] told when a client of 2025 is ready
 * @property {(call: Pick<Call, 'params' | 'tell'>) => Data} [listen] begins to tell of what is asked for; what it honours
 */

/** @type {Map<Stranger, Map<string, number>>} */
const counts = new Map();

/**
 * @param {Stranger} stranger
 * @param {import('../fixture/peer.mjs').Era} era
 * @param {(message: Data, about?: string | number) => void} send
 */
export function createStrangerPeer(stranger, era, send) {
  const counted = counts.get(stranger) ?? new Map();
  counts.set(stranger, counted);
  /** @type {Map<number, (message: Data) => void>} */
  const asked = new Map();
  let isLegacy = false;
  let closed = false;
  /** @type {Data} */
  let client = {};
  /** @type {Data} */
  let who = {};
  /** @type {string | undefined} */
  let level;
  let questions = 0;

  /** @param {string} method @param {Data} [params] @param {string | number} [about] @returns {Promise<any>} */
  function ask(method, params, about = undefined) {
    const id = ++questions;
    return new Promise((resolve, reject) => {
      asked.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new WireError(error.code, error.message, error.data)),
      );
      send({ id, method, params }, about);
    });
  }

  /** @param {Data} request @returns {Data | Promise<Data>} */
  function answer({ id, method, params = {} }) {
    const meta = params._meta ?? {};
    const handler = Object.hasOwn(stranger.methods, method) ? stranger.methods[method] : undefined;
    if (handler !== undefined) {
      counted.set(method, (counted.get(method) ?? 0) + 1);
      return handler({
        params,
        modern: !isLegacy,
        who: isLegacy ? who : meta[CLIENT_KEY],
        client: isLegacy ? client : (meta[CAPABILITIES_KEY] ?? {}),
        level: isLegacy ? level : meta[LOG_LEVEL_KEY],
        ask: (asks, asking) => ask(asks, asking, id),
        tell: (tells, telling) => send({ method: tells, params: telling }, id),
        count: (which) => counted.get(which) ?? 0,
      });
    }
    counted.set(method, (counted.get(method) ?? 0) + 1);
    const { identity, instructions } = stranger;
    const declared = stranger.capabilities;
    const capabilities = typeof declared === 'function' ? declared(!isLegacy) : declared;
    const said = { capabilities, ...(instructions !== undefined && { instructions }) };
    if (!isLegacy && method === 'server/discover') return { supportedVersions: [MODERN_VERSION], ...said };
    if (isLegacy && method === 'initialize') {
      client = params.capabilities ?? {};
      who = params.clientInfo;
      return { protocolVersion: LEGACY_VERSION, serverInfo: identity, ...said };
    }
    if (isLegacy && method === 'logging/setLevel' && capabilities.logging !== undefined) {
      level = params.level;
      return {};
    }
    if (isLegacy && method === 'ping') return {};
    throw new WireError(-32_601, `Method not found: ${method}`);
  }

  /** @param {Data} request */
  async function serve(request) {
    const { id, method, params = {} } = request;
    try {
      if (method === 'initialize' && era !== 'modern') isLegacy = true;
      else if (!isLegacy && era === 'legacy') throw new WireError(-32_601, 'Method not found');
      else if (!isLegacy && params._meta?.[VERSION_KEY] !== MODERN_VERSION) {
        const requested = params._meta?.[VERSION_KEY] ?? '';
        throw new WireError(-32_022, 'Unsupported protocol version', { supported: [MODERN_VERSION], requested });
      }
      if (!isLegacy && method === 'subscriptions/listen') {
        const _meta = { [SUBSCRIPTION_KEY]: id };
        /** @param {string} tells @param {Data} telling */
        const tell = (tells, telling) => {
          if (!closed) send({ method: tells, params: { ...telling, _meta } }, id);
        };
        const told = { notifications: stranger.listen?.({ params, tell }) ?? {}, _meta };
        return send({ method: 'notifications/subscriptions/acknowledged', params: told }, id);
      }
      const result = await answer(request);
      if (isLegacy) return send({ id, result }, id);
      const hints = /\/(?:list|read|discover)$/.test(method) ? { ttlMs: 0, cacheScope: 'private' } : {};
      const _meta = { ...result._meta, [SERVER_KEY]: stranger.identity };
      send({ id, result: { resultType: 'complete', ...hints, ...result, _meta } }, id);
    } catch (error) {
      const { code = -32_603, message, data } = /** @type {WireError} */ (error);
      send({ id, error: { code, message, ...(data !== undefined && { data }) } }, id);
    }
  }

  return {
    get isLegacy() {
      return isLegacy;
    },
    /** @param {Data} message */
    handle(message) {
      if (message.method === undefined) {
        asked.get(message.id)?.(message);
        asked.delete(message.id);
      } else if (message.id !== undefined) void serve(message);
      else if (message.method === 'notifications/initialized') stranger.initialized?.({ client, ask });
    },
    cancel() {},
    close() {
      closed = true;
    },
  };
}
