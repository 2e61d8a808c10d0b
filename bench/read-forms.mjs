/**
 * Memory and time of each form of a read, on small and large texts, against a server that reads the whole file. Each
 * number is of a server of its own, so that no peak is that of another read; what is over the read limit is refused by
 * design, and read in windows.
 */
import { Agent } from 'node:http';
import { configuration } from './lib/folders.mjs';
import { folderWithLargeFile, folderWithText, MIB, markOf } from './lib/large.mjs';
import { call, exchange, modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { processFile, startServer } from './lib/processes.mjs';
import { mib, ms, progress, report, table, times } from './lib/report.mjs';
import { median } from './lib/stats.mjs';
import { forgetPeak, memoryOf } from './lib/system.mjs';

const how = options('read-forms', 'Memory and time of each form of a read, and of a naive whole read.', {
  repeats: { type: 'number', default: 100, quick: 10, help: 'reads of what is small' },
  wholes: { type: 'number', default: 5, quick: 1, help: 'reads of what is large, where it can be read whole' },
  windows: { type: 'number', default: 1_024, quick: 64, help: 'windows of 1 MiB that are read of each file' },
});
const SIZES = [
  { name: '1 KiB', bytes: 1_024 },
  { name: '1 MiB', bytes: MIB },
  { name: '100 MiB', bytes: 100 * MIB },
  { name: '1 GiB', bytes: 1_024 * MIB },
];
/** The memory of a server is said to grow if it takes more than so many times the memory for 1 MiB. */
const SAME = 1.25;

/** Makes the tool call for the whole of a file. */
const tool = (name, args) => (file) => modern('tools/call', { name, arguments: args(file) });
const uriOf = (file) => `file:///${file}`;
const FORMS = [
  {
    name: 'naive',
    naive: true,
    ask: tool('read', (name) => ({ name })),
    textOf: (result) => result.content[0].text,
  },
  {
    name: 'resources/read',
    ask: (file) => modern('resources/read', { uri: uriOf(file) }),
    textOf: (result) => result.contents[0].text,
  },
  {
    name: 'read_embedded',
    ask: tool('read_embedded', (file) => ({ uri: uriOf(file) })),
    textOf: embeddedText,
  },
  {
    name: 'read as embedded',
    ask: tool('read', (file) => ({ uri: uriOf(file), as: 'embedded' })),
    textOf: embeddedText,
  },
  {
    name: 'read as plain',
    ask: tool('read', (file) => ({ uri: uriOf(file), as: 'plain' })),
    textOf: (result) => result.content.find(({ text }) => text?.length >= 1_024)?.text,
  },
];

const cells = [];
for (const size of SIZES) {
  const large = size.bytes > MIB;
  const folder = size.bytes < MIB ? folderWithText(size.bytes) : folderWithLargeFile(size.bytes / MIB, true);
  const file = size.bytes < MIB ? 'whole.txt' : 'large.txt';
  for (const form of FORMS) {
    progress(`${size.name}: ${form.name}`);
    const count = large ? how.wholes : how.repeats;
    cells.push(
      await measure(size, form.name, folder, form.naive === true, (send) => readWhole(send, form, file, size, count)),
    );
  }
  progress(`${size.name}: windows`);
  cells.push(await measure(size, 'read as window', folder, false, (send) => readWindows(send, file, size)));
}
progress('');

const windowed = cells.filter(({ form }) => form === 'read as window');
const peakOf = (size) => windowed.find((cell) => cell.size === size)?.memory.peak ?? Number.NaN;
const growth = {
  '100 MiB': peakOf('100 MiB') / peakOf('1 MiB'),
  '1 GiB': peakOf('1 GiB') / peakOf('1 MiB'),
};
const grows = Number.isNaN(growth['1 GiB']) ? undefined : Math.max(...Object.values(growth)) > SAME;
const reasons = cells
  .filter(({ reason }) => reason !== undefined)
  .map(({ size, form, outcome, reason }) => `${size}, ${form} ${outcome}: ${reason}`);
report(
  how,
  { cells, growth, grows },
  `${table(
    ['', 'an answer', 'answers', 'in all', 'peak over idle', 'peak', 'outcome'],
    cells.map(({ size, form, outcome, milliseconds, answers, seconds, memory }) => [
      `${size}: ${form}`,
      ms(milliseconds),
      `${answers}`,
      `${seconds.toFixed(1)} s`,
      mib(memory.over),
      mib(memory.peak),
      outcome,
    ]),
  )}\n\n${reasons.join('\n')}\n\nPeak memory of windowed reads, to the one over 1 MiB: ${times(growth['100 MiB'])} over 100 MiB, ${times(growth['1 GiB'])} over 1 GiB; ${
    grows === undefined ? 'not known' : grows ? 'it GROWS with the resource' : 'it does not grow with the resource'
  }.`,
);
if (grows) process.exitCode = 1;

/**
 * Reads a file of a folder from a server of its own.
 * @param {{name: string, bytes: number}} size
 * @param {string} form
 * @param {string} folder
 * @param {boolean} naive
 * @param {(send: ReturnType<typeof sender>) => Promise<{outcome: string, reason?: string, latencies: readonly number[]}>} work
 */
async function measure(size, form, folder, naive, work) {
  const args = naive
    ? [processFile('naive-http'), folder]
    : [how.cli, 'serve', '--config', configuration(folder, {}), '--http', '0'];
  const server = await startServer(args);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    await call(server.url, modern('server/discover'), agent);
    const idle = memoryOf(server.pid).now;
    forgetPeak(server.pid);
    const start = performance.now();
    const { latencies, ...became } = await work(sender(server.url, agent));
    const seconds = (performance.now() - start) / 1_000;
    const { peak } = memoryOf(server.pid);
    const over = peak === undefined || idle === undefined ? undefined : peak - idle;
    const memory = { idle, peak, over };
    return {
      size: size.name,
      form,
      ...became,
      milliseconds: median(latencies),
      answers: latencies.length,
      seconds,
      memory,
    };
  } finally {
    agent.destroy();
    await server.stop();
  }
}

/**
 * Returns a function that sends a request. Its result has the milliseconds until the last byte of the answer.
 * @param {string} url
 * @param {Agent} agent
 */
function sender(url, agent) {
  return async (request) => {
    const start = performance.now();
    const { body } = await exchange(url, request, agent);
    const milliseconds = performance.now() - start;
    const message = JSON.parse(body);
    const { result } = message;
    const refusal = result?.isError ? result.content[0].text : message.error?.message;
    return { milliseconds, result, refusal };
  };
}

/** Repeats a read of the whole, or does it once where it is refused or fails. */
async function readWhole(send, { naive, ask, textOf }, file, { bytes }, count) {
  const latencies = [];
  while (latencies.length < count) {
    const { milliseconds, result, refusal } = await send(ask(file));
    latencies.push(milliseconds);
    if (refusal !== undefined) return { outcome: naive ? 'fails' : 'refused', reason: refusal, latencies };
    if (textOf(result)?.length !== bytes) throw new Error('the whole was not read');
  }
  return { outcome: 'whole', latencies };
}

/**
 * Reads windows of 1 MiB in order: spread over the file where it has more of them than are to be read, and again and
 * again where it has fewer, so that memory is compared after as many answers.
 */
async function readWindows(send, file, { bytes }) {
  const all = Math.ceil(bytes / MIB);
  const count = how.windows;
  const latencies = [];
  for (let read = 0; read < count; read++) {
    const index = all <= count ? read % all : Math.floor((read * all) / count);
    const range = { start_offset: index * MIB, max_bytes: MIB };
    const window = { uri: uriOf(file), as: 'window', ...range };
    const { milliseconds, result, refusal } = await send(modern('tools/call', { name: 'read', arguments: window }));
    latencies.push(milliseconds);
    if (refusal !== undefined) throw new Error(refusal);
    const [{ text, total_bytes, bytes_returned }] = result.structuredContent.parts;
    if (bytes_returned !== Math.min(MIB, bytes) || text.length !== bytes_returned || total_bytes !== bytes)
      throw new Error(`window ${index} has ${bytes_returned} bytes of ${total_bytes}`);
    if (bytes >= MIB && !text.startsWith(markOf(index))) throw new Error(`window ${index} is another one`);
  }
  return { outcome: all <= count ? 'whole, in windows' : `${count} of ${all} windows`, latencies };
}

/** @param {any} result */
function embeddedText(result) {
  return result.content.find(({ type }) => type === 'resource')?.resource.text;
}
