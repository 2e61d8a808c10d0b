/**
 * The servers against which the conformance suite runs through the gateway: Vitrine's own fixture, which has everything, the official
 * everything server, the conformance server of the Go SDK, a server made with FastMCP, and a server with tasks.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { REVISIONS, root, startFixture, startServer } from './suite.mjs';

const SERVERS = join(root, 'test/interop/servers');
const EVERYTHING = join(SERVERS, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const GO = join(SERVERS, 'go/.built/server');
const WINDOWS = process.platform === 'win32';
const PYTHON = join(SERVERS, '.venv', WINDOWS ? 'Scripts/python.exe' : 'bin/python');
const FASTMCP = join(SERVERS, 'python/conformance.py');
const STRANGER = join(root, 'test/gateway/strangers/main.mjs');
const INSTALL = 'run node scripts/install-interop.mjs servers';

/**
 * `start` starts the server over HTTP for a revision, and returns its URL and the ways to mount it. `leftOut` returns the reason if a
 * server cannot run on this machine. `scenarios` matches the scenarios that count; default: all. `extensions` matches those of extensions
 * that run as well.
 */
export const UPSTREAMS = [
  {
    name: 'fixture',
    revisions: REVISIONS,
    extensions: /^sep-2640-/,
    async start() {
      const fixture = await startFixture();
      // Clients may come before the gateway has reached the server.
      return { ...fixture, mounts: { http: { url: fixture.url, skills: 'on' } } };
    },
  },
  {
    name: 'everything',
    revisions: ['2025-11-25'],
    async start() {
      if (!existsSync(EVERYTHING)) throw new Error(`The everything server is missing: ${INSTALL}`);
      const server = await startServer(process.execPath, [EVERYTHING, 'streamableHttp'], {
        env: { PORT: String(await freePort()) },
        pattern: /listening on port (\d+)/i,
        urlOf: (found) => `http://127.0.0.1:${found}/mcp`,
      });
      const stdio = { command: process.execPath, args: [EVERYTHING, 'stdio'] };
      return { ...server, mounts: { http: { url: server.url }, stdio } };
    },
  },
  {
    name: 'go',
    revisions: REVISIONS,
    leftOut: () => (existsSync(GO) ? undefined : withoutTool('go', ['version'])),
    async start(revision) {
      // The server speaks 2025-11-25 only with sessions, and the other revision only without them.
      const stateless = `-stateless=${revision !== '2025-11-25'}`;
      const server = await startServer(GO, ['-http', `127.0.0.1:${await freePort()}`, stateless], {
        pattern: /listening at (\S+)/,
        urlOf: (found) => `http://${found}`,
      });
      return { ...server, mounts: { http: { url: server.url }, stdio: { command: GO } } };
    },
  },
  {
    name: 'fastmcp',
    revisions: REVISIONS,
    leftOut: () =>
      existsSync(PYTHON) ? undefined : withoutTool(WINDOWS ? 'python' : 'python3', ['-m', 'venv', '--help']),
    async start() {
      const env = { NO_COLOR: '1', FASTMCP_CHECK_FOR_UPDATES: 'off' };
      const server = await startServer(PYTHON, [FASTMCP, String(await freePort())], {
        env,
        pattern: /running on (http:\/\/127\.0\.0\.1:\d+)/i,
        urlOf: (found) => `${found}/mcp`,
      });
      return { ...server, mounts: { http: { url: server.url }, stdio: { command: PYTHON, args: [FASTMCP], env } } };
    },
  },
  {
    // The servers above lack the tools that these scenarios need.
    name: 'tasks',
    revisions: ['2026-07-28'],
    scenarios: /^tasks-/,
    async start() {
      const server = await startServer(process.execPath, [STRANGER, 'tasks', '--http']);
      const stdio = { command: process.execPath, args: [STRANGER, 'tasks'] };
      return { ...server, mounts: { http: { url: server.url }, stdio } };
    },
  },
];

/** The reason to leave out a server that is not installed. @throws Error if the tool to install it is there */
function withoutTool(tool, args) {
  if (spawnSync(tool, args).status !== 0) return `It needs ${tool}, which this machine does not have`;
  throw new Error(`A server that is installed with ${tool} is missing: ${INSTALL}`);
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
