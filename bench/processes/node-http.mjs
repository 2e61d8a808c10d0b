/**
 * HTTP of Node with nothing around it: takes the whole request, and sends bytes that were made before. It does not even
 * parse requests, so no server can be faster. At `/held` an answer begins and does not end.
 * Argument: a JSON file with the answers, by path.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { answers } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const byPath = new Map(
  Object.entries(answers).map(([path, { contentType, body }]) => {
    const bytes = Buffer.from(body);
    return [path, { bytes, headers: { 'Content-Type': contentType, 'Content-Length': bytes.length } }];
  }),
);

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    if (request.url === '/held') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': held\n\n');
      return;
    }
    const answer = byPath.get(request.url ?? '');
    if (answer === undefined) response.writeHead(404).end();
    else response.writeHead(200, answer.headers).end(answer.bytes);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}/`);
});
