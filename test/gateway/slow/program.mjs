/**
 * A program over standard input and output that takes its time until its first answer: `node program.mjs --dir <folder> [--era
 * legacy|modern|both] [--unknown refused|ignored|fatal|settled] [--delay <ms>]`. With `settled`, it answers `initialize` late,
 * and speaks only 2025 from then on. The file `heard` in the folder has a line for its start, and for each message that waits
 * for its first answer. It answers as soon as the folder has a file `go`, or after the delay.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createStrangerPeer } from '../strangers/peer.mjs';

const { values } = parseArgs({
  options: {
    dir: { type: 'string', default: '.' },
    era: { type: 'string', default: 'both' },
    unknown: { type: 'string', default: 'refused' },
    delay: { type: 'string' },
  },
});
const { dir, era, unknown, delay } = values;
const heard = (/** @type {string} */ what) => appendFileSync(join(dir, 'heard'), `${what}\n`);

/** @type {import('../strangers/peer.mjs').Stranger} */
const slow = {
  identity: { name: 'slow', version: '1.0.0' },
  capabilities: { resources: {}, tools: {}, prompts: {} },
  methods: {
    'resources/list': () => ({ resources: [{ uri: 'slow:///one', name: 'one' }] }),
    'resources/read': ({ params }) => ({ contents: [{ uri: params.uri, text: 'at last' }] }),
    'tools/list': () => ({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] }),
    'tools/call': ({ modern }) => ({ content: [{ type: 'text', text: modern ? '2026' : '2025' }] }),
    'prompts/list': () => ({ prompts: [{ name: 'ask' }] }),
  },
};
const NOT_KNOWN = { legacy: 'server/discover', modern: 'initialize', both: '' }[era];

const send = (/** @type {any} */ message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let peer = createStrangerPeer(slow, /** @type {import('../fixture/peer.mjs').Era} */ (era), send);

/** How late a program that settles answers `initialize`, in milliseconds. */
const GREETING_MS = 1_500;

/** @param {any} message */
function handle(message) {
  if (message.method === NOT_KNOWN && unknown === 'fatal') process.exit(3);
  if (message.method === NOT_KNOWN && unknown === 'ignored') return;
  if (message.method === 'initialize' && unknown === 'settled') {
    peer = createStrangerPeer(slow, 'legacy', (answer) =>
      setTimeout(send, answer.id === message.id ? GREETING_MS : 0, answer),
    );
  }
  peer.handle(message);
}

heard('start');
/** @type {any[] | undefined} */
let waiting = [];
const begun = performance.now();
const timer = setInterval(() => {
  const ready = delay === undefined ? existsSync(join(dir, 'go')) : performance.now() - begun >= Number(delay);
  if (!ready) return;
  clearInterval(timer);
  void answer();
}, 10);

/** One after the other, as they came. */
async function answer() {
  for (let message = waiting?.shift(); message !== undefined; message = waiting?.shift()) {
    handle(message);
    await new Promise(setImmediate);
  }
  waiting = undefined;
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line);
    if (waiting === undefined) return handle(message);
    waiting.push(message);
    heard(message.method);
  })
  .on('close', () => process.exit(0));
