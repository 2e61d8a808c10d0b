/** A bare SDK server over stdio, for both eras. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { sdkServer } from './sdk-server.mjs';

const empty = { ttlMs: 0, cacheScope: 'private' };
serveStdio(() => sdkServer({ read: { contents: [], ...empty }, list: { resources: [], ...empty } }));
