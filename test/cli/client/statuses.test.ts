/** Each exit status of the commands for servers, with the line that goes with it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ODD, oddOverHttp, UNSAFE } from './odd.ts';
import { run } from './run.ts';

/** A program that answers every request with an error. */
const REFUSING =
  "require('readline').createInterface(process.stdin).on('line', (line) => console.log(JSON.stringify({ jsonrpc: '2.0', " +
  "id: JSON.parse(line).id, error: { code: -32601, message: 'No' } })))";

let odd: Awaited<ReturnType<typeof oddOverHttp>>;
beforeAll(async () => {
  odd = await oddOverHttp();
});
afterAll(() => odd[Symbol.asyncDispose]());

it.each<[number, string, () => readonly string[], RegExp]>([
  [1, 'the server failed', () => ['cat', ODD, 'odd:///broken'], /It broke: odd:\/\/\/broken$/],
  [2, 'an unknown option', () => ['ls', ODD, '--lng'], /unknown option '--lng'/],
  [2, 'an unknown server', () => ['ls', 'no-such-server-anywhere'], /no such file, server of a host, or program/],
  [2, 'a password in the URL', () => ['ls', 'https://a:b@example.com/'], /give them with --header or --bearer/],
  [2, 'an open quote', () => ['ls', 'node "x'], /open quote/],
  [2, 'an invalid number', () => ['ls', ODD, '--max-resources', 'many'], /--max-resources takes a whole number/],
  [2, 'an invalid number of bytes', () => ['cat', ODD, 'odd:///evil', '--max-bytes', '5T'], /--max-bytes takes bytes/],
  [2, 'an invalid range', () => ['cat', ODD, 'odd:///evil', '--range', '5-2'], /--range takes bytes/],
  [2, 'invalid lines', () => ['cat', ODD, 'odd:///evil', '--lines', '0'], /--lines takes lines/],
  [2, 'two kinds of output', () => ['ls', ODD, '--json', '--jsonl'], /not both/],
  [2, 'a header for a program', () => ['ls', ODD, '--bearer', 'x'], /--bearer is for servers at an address/],
  [2, 'a path where there are several roots', () => ['cat', ODD, 'a/b'], /several roots: odd:\/\/\/, elsewhere:/],
  [3, 'a resource that is not there', () => ['cat', ODD, 'odd:///none'], /There is none: odd:\/\/\/none$/],
  [4, 'a server that wants a token', () => ['ls', odd.url], /does not let this client in/],
  [4, 'a resource for others', () => ['cat', ODD, 'odd:///denied'], /Not for you: odd:\/\/\/denied$/],
  [5, 'a port that fetch blocks', () => ['ls', 'http://127.0.0.1:1/mcp'], /browsers and fetch block that port/],
  [
    5,
    'a port at which nothing listens',
    () => ['ls', 'http://127.0.0.1:2/mcp'],
    /cannot be reached: nothing listens there \(ECONNREFUSED\); is it started/,
  ],
  [5, 'a program that does not exist', () => ['ls', 'no-such-program --at all'], /there is no such program/],
  [
    5,
    'a program that ends',
    () => ['ls', `"${process.execPath}" -e "console.error('Oh no');process.exitCode=3"`],
    /cannot be reached: the program ended with exit status 3; it said: Oh no$/,
  ],
  [
    5,
    'a program that is killed',
    () => ['ls', `"${process.execPath}" -e "process.kill(process.pid, 'SIGKILL')"`],
    /the program was ended by SIGKILL/,
  ],
  [
    5,
    'a program that repeats what it is sent',
    () => ['ls', `"${process.execPath}" -e "process.stdin.pipe(process.stdout)"`],
    /it repeats what it is sent: it is no MCP server$/,
  ],
  [
    5,
    'a program that ends in the middle of a line',
    () => ['ls', `"${process.execPath}" -e "process.stdout.write('half')"`],
    /ended with exit status 0, and wrote 4 bytes of a line and did not end it; does it serve MCP over stdio, or need an argument for that\?$/,
  ],
  [
    5,
    'a program that is no MCP server',
    () => ['ls', `"${process.execPath}" -e "${REFUSING}"`],
    /it answers, but takes no handshake of MCP: "No"$/,
  ],
  [
    6,
    'a program that writes something else',
    () => ['ls', `"${process.execPath}" -e "console.log('Hello');setInterval(String,9e3)"`, '--timeout', '3'],
    /took too long: in 3 s it wrote "Hello", which is not an MCP message; does it serve MCP over stdio, or need an argument for that\?$/,
  ],
  [
    6,
    'a program that says nothing',
    () => ['ls', `"${process.execPath}" -e "setInterval(String,9e3)"`, '--timeout', '2'],
    /too long: in 2 s it wrote nothing to standard output; does it serve MCP over stdio, or need an argument for that\?$/,
  ],
  [
    6,
    'a program that only logs',
    () => ['ls', `"${process.execPath}" -e "console.error('On port 3');setInterval(String,9e3)"`, '--timeout', '2'],
    /too long: in 2 s it wrote nothing to standard output; does it .* for that\? It said: On port 3$/,
  ],
  [6, 'no answer', () => ['cat', ODD, 'odd:///silent', '--timeout', '1'], /did not answer in time|took too long/],
  [7, 'a listed resource that cannot be read', () => ['grep', ODD, 'one'], /elsewhere:thing: There is none/],
  [
    8,
    'a format that the resource does not have',
    () => ['cat', ODD, 'odd:///formats', '--accept', 'image/*'],
    /there is text\/markdown/,
  ],
  [9, 'too many bytes', () => ['cat', ODD, 'odd:///large', '--max-bytes', '64K'], /more than 65536 bytes/],
])('%i for %s', async (status, _what, args, line) => {
  const outcome = await run(args());
  expect(outcome.status).toBe(status);
  expect(outcome.stderr).toMatch(/^vitrine: .+\n$/);
  expect(outcome.stderr.trimEnd()).toMatch(line);
  expect(outcome.stderr).not.toMatch(UNSAFE);
});

it('no message contains a secret', async () => {
  const args = [
    'cat',
    odd.url,
    '--header',
    'X-Key: very-secret-key-indeed',
    'odd:///none',
    '--bearer',
    'let-me-in-not',
  ];
  const outcome = await run(args);
  expect(outcome.status).toBe(4);
  expect(outcome.stderr).not.toMatch(/very-secret|let-me-in-not/);
});
