/**
 * A small server that can be made to fail in many ways: `node main.mjs --dir <folder> --era legacy|modern [--port <n>]`.
 * Files of the folder steer it, so that its faults go on from one process to the next: see control.mjs.
 */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { openControl } from './control.mjs';
import { serveHttp } from './http.mjs';
import { serveStdio } from './stdio.mjs';

const { values } = parseArgs({
  options: { dir: { type: 'string' }, era: { type: 'string' }, port: { type: 'string' } },
});
const { dir = '', era = 'legacy', port } = values;
const control = openControl(dir);
control.note('started');

const { kind } = control.fault();
if (kind === 'crash-loop') process.exit(3);
if (kind === 'secrets') process.stderr.write(`token ${process.env.FAULTY_SECRET}\n`);
if (kind === 'grandchild') {
  const script = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6); process.stdout.write('\\n')";
  const started = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'inherit'] });
  control.note('grandchild', { pid: started.pid });
}

if (port === undefined) serveStdio(control, era);
else serveHttp(control, era, Number(port)).on('listening', () => process.stdout.write('listening\n'));
