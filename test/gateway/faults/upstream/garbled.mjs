/** Invalid answers, and good ones among noise, as the text of lines or events. */

/** @typedef {import('./protocol.mjs').Message} Message */

/** @param {Message} answer */
const text = (answer) => JSON.stringify(answer);

/** @param {Message} answer @param {object} fields */
const withResult = (answer, fields) => text({ ...answer, result: { ...answer.result, ...fields } });

/** Far more than anybody asked for, and the answer behind it. @param {Message} answer */
export const flood = (answer) => [
  ...Array(100_000).fill(text({ jsonrpc: '2.0', method: 'notifications/resources/list_changed' })),
  text(answer),
];

/** @type {Record<string, (answer: Message) => (string | Buffer)[]>} each: what is sent in the place of the answer */
export const FORMS = {
  'no JSON': () => ['Traceback (most recent call last):', '  File "/home/secret/server.py", line 1'],
  'half of the JSON': (answer) => [text(answer).slice(0, -9)],
  'the wrong id': (answer) => [text({ ...answer, id: 99_999 })],
  'no result': ({ result: _, ...answer }) => [text(answer)],
  'a result that is none': (answer) => [text({ ...answer, result: 'yes' })],
  'no result type': ({ result: { resultType: _, ...result }, ...answer }) => [text({ ...answer, result })],
  'an unknown result type': (answer) => [withResult(answer, { resultType: 'later' })],
  'wrong shapes': (answer) => [withResult(answer, { contents: 'text', resources: { uri: 1 }, tools: 7, content: 9 })],
  'wrong shapes within': (answer) => [
    withResult(answer, {
      contents: [null, 7],
      resources: [null, 7, { uri: 8 }],
      tools: ['a', { name: 1 }],
      content: [null],
    }),
  ],
};

/** @type {Record<string, (answer: Message) => (string | Buffer)[]>} each: noise around the good answer */
export const NOISES = {
  'lines that are no JSON': (answer) => ['starting…', '{', text(answer), ']'],
  'the same answer twice': (answer) => [text(answer), text(answer)],
  'results that nobody asked for': (answer) => [text({ jsonrpc: '2.0', id: 4_711, result: {} }), text(answer)],
  'errors for nobody': (answer) => [
    text({ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error' } }),
    text({ jsonrpc: '2.0', id: 'x', error: { code: 1, message: 'odd' } }),
    text(answer),
  ],
  'notifications of unknown kinds': (answer) => [
    text({ jsonrpc: '2.0', method: 'notifications/vendor/odd', params: { a: [1] } }),
    text({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 7 } }),
    text({ jsonrpc: '2.0', method: 'notifications/resources/updated' }),
    text({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'no', progress: 'x' } }),
    text({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 3 } }),
    text({ jsonrpc: '2.0', method: 'notifications/cancelled', params: {} }),
    text(answer),
  ],
  'requests of unknown kinds': (answer) => [
    text({ jsonrpc: '2.0', id: 'q', method: 'vendor/odd', params: {} }),
    text({ jsonrpc: '2.0', id: 'r', method: 'sampling/createMessage', params: {} }),
    text(answer),
  ],
  'a megabyte before it': (answer) => ['x'.repeat(1_000_000), text(answer)],
  'invalid UTF-8 before it': (answer) => [Buffer.from([0x7b, 0xff, 0xfe, 0xc0, 0x80]), text(answer)],
};
