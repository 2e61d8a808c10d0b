/**
 * A server that misbehaves, over standard input and output or, with `--port`, over HTTP.
 * Usage: node server.mjs <kind> [--era legacy|modern] [--port <number>] [--mark <text>]
 * The mark is there to find it, and all that it starts, among the processes of the machine.
 */
import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { serveHttp } from './http.mjs';
import { KINDS } from './kinds.mjs';
import { serveStdio } from './stdio.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    era: { type: 'string', default: 'modern' },
    port: { type: 'string' },
    mark: { type: 'string', default: '' },
  },
});
const kind = KINDS[positionals[0] ?? ''];
if (kind === undefined) throw new Error(`${positionals[0]} is none of ${Object.keys(KINDS).join(', ')}`);

if (kind.stubborn === true && values.port === undefined) {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(signal, () => {});
  // Holds the pipes open, and does not listen to signals either.
  const code = `for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => {}); setInterval(() => {}, 1e6)`;
  spawn(process.execPath, ['-e', code, values.mark], { stdio: 'inherit' });
}
if (kind.atOnce !== undefined && values.port === undefined) {
  // Blocks where nobody reads, and hears nothing: neither its input nor signals.
  for (let number = 0; ; number++) {
    for (const [fd, text] of kind.atOnce(number)) {
      try {
        for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(fd, rest));
      } catch (error) {
        if (error.code === 'EPIPE') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
        else if (error.code !== 'EAGAIN') throw error;
      }
    }
  }
}
if (values.port === undefined) serveStdio(kind, values.era);
else serveHttp(kind, values.era, Number(values.port));
