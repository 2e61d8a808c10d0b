/** A small server of the 2025 era over stdio, with a fault where one is named on the command line. */
import { createInterface } from 'node:readline';

const fault = process.argv[2];
const lines = createInterface({ input: process.stdin });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

if (fault === 'logs') process.stdout.write('Server is running\n');
// The timer keeps the program running after standard input has ended.
if (fault === 'stays') setInterval(() => {}, 60_000);

lines.on('line', (line) => {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    if (fault === 'dies') process.exit(1);
    send({ id: null, error: { code: -32_700, message: 'Parse error' } });
    return;
  }
  const { id, method } = message;
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'pipes', version: '1' };
    send({ id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo } });
  } else if (method === 'ping') send({ id, result: {} });
  else if (fault === 'slow') setTimeout(send, 5_500, { id, error: { code: -32_601, message: 'Method not found' } });
  else send({ id, error: { code: -32_601, message: 'Method not found' } });
});
