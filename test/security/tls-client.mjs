/**
 * The SDK's client over HTTPS, in a process of its own, because Node.js reads NODE_EXTRA_CA_CERTS, which names trusted
 * authorities, only at its start. Prints one line of JSON: the text that it read, or the error.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, era, uri] = process.argv.slice(2);
const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
const client = new Client({ name: 'tls', version: '1.0.0' }, { versionNegotiation: { mode } });
/** Gives the first cause of an error. */
const reasonOf = (error) => (error.cause === undefined ? (error.code ?? error.message) : reasonOf(error.cause));
try {
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { contents } = await client.readResource({ uri });
  console.log(JSON.stringify({ text: contents[0].text }));
} catch (error) {
  console.log(JSON.stringify({ error: reasonOf(error) }));
}
await client.close();
