/**
 * Gateways of other makers, as data for the benchmark: which upstreams and clients each can connect, and the
 * command that starts it.
 * `node scripts/install-interop.mjs rivals` installs them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const WINDOWS = process.platform === 'win32';
const MCP_PROXY = join(FOLDER, 'node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs');
const SUPERGATEWAY = join(FOLDER, 'node_modules/supergateway/dist/index.js');
const FASTMCP = join(FOLDER, '.venv', WINDOWS ? 'Scripts/fastmcp.exe' : 'bin/fastmcp');

/**
 * The server behind a rival: a command that talks over stdio, or the URL of a Streamable HTTP endpoint.
 * @typedef {{readonly command: string, readonly args: readonly string[]} | {readonly url: string}} Upstream
 */

/**
 * The side that a client connects to: the standard streams, or Streamable HTTP at a port of this machine that is free.
 * @typedef {'stdio' | {readonly port: number}} Front
 */

/**
 * How a rival is started. If there is a `url`, the rival is ready when the port of the `url` accepts connections.
 * @typedef {object} Start
 * @property {string} command
 * @property {readonly string[]} args
 * @property {Readonly<Record<string, string>>} env beside that of this process
 * @property {string} [url] the endpoint, when the front is HTTP
 */

/**
 * @typedef {object} Rival
 * @property {string} name
 * @property {string} make
 * @property {string} version as its package says
 * @property {string} program its file, which is there when it is installed
 * @property {(upstream: Upstream, front: Front) => Start | undefined} start returns undefined if the rival cannot connect this
 *   upstream to this front
 */

/** @type {readonly Rival[]} */
export const RIVALS = [
  {
    name: 'fastmcp',
    make: 'Prefect',
    version: '4.1.2',
    program: FASTMCP,
    start: (upstream, front) => {
      // The command of FastMCP takes the configuration of an upstream only from a file. `create_proxy` takes it as data.
      const target = 'url' in upstream ? { url: upstream.url } : { command: upstream.command, args: upstream.args };
      const program = `import json, sys
from fastmcp.server import create_proxy
proxy = create_proxy({"mcpServers": {"upstream": json.loads(sys.argv[1])}})
proxy.run(**json.loads(sys.argv[2]), show_banner=False)`;
      const how =
        front === 'stdio'
          ? { transport: 'stdio' }
          : { transport: 'http', host: '127.0.0.1', port: front.port, log_level: 'ERROR' };
      return {
        command: join(FASTMCP, WINDOWS ? '../python.exe' : '../python'),
        args: ['-c', program, JSON.stringify(target), JSON.stringify(how)],
        // It asks the package index for newer versions of itself unless it is told not to.
        env: { FASTMCP_CHECK_FOR_UPDATES: 'off', FASTMCP_LOG_LEVEL: 'ERROR', NO_COLOR: '1' },
        ...at(front, '/mcp'),
      };
    },
  },
  {
    name: 'mcp-proxy',
    make: 'Frank Fiegel',
    version: '6.7.19',
    program: MCP_PROXY,
    start: (upstream, front) => {
      if ('url' in upstream || front === 'stdio') return undefined;
      const listen = ['--host', '127.0.0.1', '--port', `${front.port}`, '--server', 'stream', '--no-eventStore'];
      return {
        command: process.execPath,
        args: [MCP_PROXY, ...listen, '--', upstream.command, ...upstream.args],
        env: {},
        ...at(front, '/mcp'),
      };
    },
  },
  {
    name: 'supergateway',
    make: 'Supercorp',
    version: '4.0.0',
    program: SUPERGATEWAY,
    start: (upstream, front) => {
      if ('url' in upstream) {
        if (front !== 'stdio') return undefined;
        const args = [SUPERGATEWAY, '--streamableHttp', upstream.url, '--logLevel', 'none'];
        return { command: process.execPath, args, env: {} };
      }
      if (front === 'stdio') return undefined;
      // Stateful: without that it starts the upstream anew for each request. The command goes through a shell.
      const stdio = [upstream.command, ...upstream.args].map((word) => JSON.stringify(word)).join(' ');
      const listen = ['--outputTransport', 'streamableHttp', '--stateful', '--port', `${front.port}`];
      return {
        command: process.execPath,
        args: [SUPERGATEWAY, '--stdio', stdio, ...listen, '--logLevel', 'none'],
        env: {},
        ...at(front, '/mcp'),
      };
    },
  },
];

/**
 * Whether a rival is installed. On a machine without Python, fastmcp is not.
 * @param {Rival} rival
 */
export const isInstalled = (rival) => existsSync(rival.program);

/**
 * @param {Front} front
 * @param {string} path
 */
const at = (front, path) => (front === 'stdio' ? {} : { url: `http://127.0.0.1:${front.port}${path}` });
