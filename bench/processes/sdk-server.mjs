/** A server of the SDK with nothing around it: the entries and the text are in memory. */
import { Server } from '@modelcontextprotocol/server';

/**
 * @param {{read: object, list: object, call: object}} results what to answer with
 */
export function sdkServer(results) {
  const server = new Server({ name: 'bare-sdk', version: '1.0.0' }, { capabilities: { resources: {}, tools: {} } });
  server.setRequestHandler('resources/read', async () => results.read);
  server.setRequestHandler('resources/list', async () => results.list);
  server.setRequestHandler('tools/call', async () => results.call);
  return server;
}
