/** A taught server over standard input and output: `node main.mjs v1|v2`. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { serverV1, serverV2 } from './servers.mjs';

if (process.argv[2] === 'v1') await serverV1().connect(new StdioServerTransport());
else serveStdio(serverV2);
