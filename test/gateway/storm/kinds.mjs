/** In which ways a server misbehaves. */

/**
 * @typedef {object} Kind
 * @property {boolean} [stubborn] does not end when it is told to, and leaves a process that holds its pipes
 * @property {(number: number) => [fd: 1 | 2, text: string][]} [atOnce] what it writes without end and without listening
 * @property {(number: number) => string[]} [after] lines that it sends without end once the handshake is over
 * @property {(message: any, good: (message: any) => any) => string[]} [answers] lines for a request; as a good one by default
 */

const line = (/** @type {unknown} */ message) => `${JSON.stringify(message)}`;
const notice = (/** @type {string} */ method, params = {}) => line({ jsonrpc: '2.0', method, params });

/** Every sort of message that nobody asked for. */
const UNASKED = [
  () => notice('notifications/tools/list_changed'),
  () => notice('notifications/resources/list_changed'),
  () => notice('notifications/prompts/list_changed'),
  (/** @type {number} */ n) => notice('notifications/resources/updated', { uri: `thing:///${n % 100}/a/b/c` }),
  (/** @type {number} */ n) => notice('notifications/progress', { progressToken: n % 50, progress: n }),
  (/** @type {number} */ n) => notice('notifications/message', { level: 'error', data: `line ${n}` }),
  (/** @type {number} */ n) => line({ jsonrpc: '2.0', id: 1_000_000 + n, result: {} }),
  (/** @type {number} */ n) => line({ jsonrpc: '2.0', id: `q${n}`, method: 'ping' }),
  (/** @type {number} */ n) => line({ jsonrpc: '2.0', id: `s${n}`, method: 'roots/list' }),
  () => 'this is no message',
  () => '',
];

const unasked = (/** @type {number} */ number) => UNASKED.map((each) => each(number));

/** A hundred of each, so that writing costs little. */
const block = (/** @type {number} */ number) =>
  Array.from({ length: 100 }, (_, index) => `${unasked(100 * number + index).join('\n')}\n`).join('');

const BIG = 'x'.repeat(4 * 1024 * 1024);
const ENTRIES = 30_000;

/** @type {(message: any, good: (message: any) => any) => any} */
const enormous = (message, good) => {
  const resources = () =>
    Array.from({ length: ENTRIES }, (_, index) => ({
      uri: `thing:///${index}`,
      name: `thing ${index}`,
      description: 'd'.repeat(100),
    }));
  const tools = () =>
    Array.from({ length: ENTRIES }, (_, index) => ({
      name: `tool_${index}`,
      inputSchema: { type: 'object' },
      description: 'd'.repeat(100),
    }));
  if (message.method === 'resources/list') return { ...good(message), resources: resources() };
  if (message.method === 'tools/list') return { ...good(message), tools: tools() };
  if (message.method === 'prompts/list') return { ...good(message), prompts: [{ name: BIG }] };
  if (message.method === 'resources/read')
    return { ...good(message), contents: [{ uri: message.params.uri, text: BIG.repeat(8) }] };
  return good(message);
};

/** Data with too many values, for contents and log messages; and JSON that is nested too deep, for contents. */
const CROWD = { crowd: Array.from({ length: 400_000 }, () => 0) };
const DEEP = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;

let turn = 0;

/** @type {Readonly<Record<string, Kind>>} */
export const KINDS = {
  /** From its first moment on, whatever it is asked. */
  flood: { stubborn: true, atOnce: (number) => [[1, block(number)]] },
  /** The same, on standard error too. */
  'flood-both': {
    stubborn: true,
    atOnce: (number) => [
      [1, block(number)],
      [2, block(number)],
    ],
  },
  /** The same, on standard error alone. It never answers. */
  'flood-errors': { stubborn: true, atOnce: (number) => [[2, block(number)]] },
  /** One line without end. */
  'flood-line': { stubborn: true, atOnce: () => [[1, BIG]] },
  /** Large notifications. */
  'flood-bytes': {
    stubborn: true,
    atOnce: () => [[1, `${notice('notifications/message', { level: 'error', data: BIG })}\n`]],
  },
  /** A good server until the handshake is over. */
  'flood-later': { after: unasked },
  /** A good server, but it does not end. */
  stubborn: { stubborn: true },
  /** Tells of changes of its lists very often before it answers a read. */
  notices: {
    answers(message, good) {
      const answer = line({ jsonrpc: '2.0', id: message.id, result: good(message) });
      if (message.method !== 'resources/read') return [answer];
      const notices = Array.from({ length: 300 }, () => notice('notifications/tools/list_changed'));
      return [...notices, answer];
    },
  },
  hang: { stubborn: true, answers: () => [] },
  lie: {
    answers(message, good) {
      turn++;
      const answer = { jsonrpc: '2.0', id: message.id, result: good(message) };
      if (message.method === 'initialize' || message.method === 'server/discover') return [line(answer)];
      // Lists that go in circles, and things that were declared and are not there.
      if (message.method.endsWith('/list'))
        return [line({ ...answer, result: { ...answer.result, nextCursor: `c${turn % 3}` } })];
      if (message.method === 'resources/subscribe')
        return [line({ ...answer, result: undefined, error: { code: -32601, message: 'No' } })];
      const others = [
        { ...answer, id: message.id + 1 },
        { ...answer, id: `${message.id}` },
        { ...answer, id: null },
      ];
      const foreign = {
        ...answer,
        result: { ...answer.result, contents: undefined, tools: [{ name: 1 }], messages: 'no' },
      };
      return [...others.map(line), line(turn % 2 === 0 ? foreign : answer), line(answer)];
    },
  },
  malformed: {
    answers(message, good) {
      turn++;
      const answer = line({ jsonrpc: '2.0', id: message.id, result: good(message) });
      if (message.method === 'initialize' || message.method === 'server/discover')
        return ['\u0000\u0001\ufffd', '{"jsonrpc":', '[]', 'null', '[[[[', answer];
      const wrong = {
        contents: 5,
        resources: [5, null, { uri: 5, name: [] }, { uri: 'thing:///good', name: 'good' }],
        tools: [null, { name: {} }],
        prompts: {},
      };
      return turn % 2 === 0
        ? [answer.slice(0, answer.length / 2), answer.slice(answer.length / 2)]
        : [line({ jsonrpc: '2.0', id: message.id, result: { ...good(message), ...wrong } })];
    },
  },
  /** Its answers to reads exceed a limit, which depends on the URI. */
  crowded: {
    answers(message, good) {
      const { uri = '' } = message.params ?? {};
      const _meta = uri.includes('deep') ? 'DEEP' : CROWD;
      const parts = Array.from({ length: 6_000 }, (_, index) => ({ uri: `${uri}/${index}`, text: '' }));
      const contents = uri.includes('parts') ? parts : [{ uri, text: '', _meta }];
      const result = /deep|crowd|parts/.test(uri) ? { contents } : {};
      const answer = line({ jsonrpc: '2.0', id: message.id, result: { ...good(message), ...result } }).replace(
        '"DEEP"',
        DEEP,
      );
      if (!uri.includes('notice')) return [answer];
      return [notice('notifications/message', { level: 'error', data: CROWD, id: message.id }), answer];
    },
  },
  enormous: { answers: (message, good) => [line({ jsonrpc: '2.0', id: message.id, result: enormous(message, good) })] },
};
