/**
 * A client on the first TypeScript SDK. It takes a plan (`index.ts`) as its argument, follows it, and prints a line of JSON for
 * each step.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

const plan = JSON.parse(process.argv[2]);
const say = (step, what = {}) => console.log(JSON.stringify({ step, ...what }));
const textOf = (blocks) => blocks.map(({ text, resource }) => text ?? resource?.text ?? '').join('\n');

const client = new Client({ name: 'typescript', version: '1.0.0' }, { capabilities: { elicitation: {} } });
const questions = [];
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  questions.push(params.message);
  return params.message.includes(plan.guarded)
    ? { action: 'accept', content: { confirm: true } }
    : { action: 'decline' };
});
const updated = new Promise((resolve) => {
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
});
const transport =
  plan.url === undefined
    ? new StdioClientTransport({ command: plan.command, args: plan.args, stderr: 'inherit' })
    : new StreamableHTTPClientTransport(new URL(plan.url));
let revision;
const agree = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  revision = version;
  agree?.(version);
};
await client.connect(transport);
say('connect', { revision, server: client.getServerVersion().name });

const resources = await drain((cursor) => client.listResources({ cursor }), 'resources');
say('list', { uris: resources.entries.map(({ uri }) => uri), pages: resources.pages });
const names = async () =>
  (await drain((cursor) => client.listTools({ cursor }), 'tools')).entries.map(({ name }) => name);
say('tools', { names: await names() });

const read = async (uri) => (await client.readResource({ uri })).contents[0];
say('text', { text: (await read(plan.text)).text });
say('binary', { base64: (await read(plan.binary)).blob });
const templates = await drain((cursor) => client.listResourceTemplates({ cursor }), 'resourceTemplates');
const { uriTemplate } = templates.entries.find((each) => each.uriTemplate === plan.template);
say('template', { text: (await read(uriTemplate.replace('{resourceId}', '7'))).text });

await client.subscribeResource({ uri: plan.watched });
say('subscribed');
say('updated', { uri: await updated });
await client.unsubscribeResource({ uri: plan.watched });

const call = async (name, args = {}) => textOf((await client.callTool({ name, arguments: args })).content);
say('read', { text: await call('read', { uri: plan.text, as: 'plain' }) });
say('search', { text: await call('search', plan.search) });
say('asked', { text: await call('read', { uri: plan.guarded, as: 'plain' }), questions: questions.splice(0) });
for (let tries = 0; tries < plan.tries && !(await names()).includes(plan.asking); tries++) await pause(100);
say('stranger asked', { text: await call(plan.asking), questions: questions.splice(0) });

const { messages } = await client.getPrompt(plan.prompt);
say('prompt', { text: textOf(messages.map(({ content }) => content)) });
const ref = { type: 'ref/prompt', name: plan.prompt.name };
const { completion } = await client.complete({ ref, argument: plan.argument });
say('complete', { values: completion.values });
await client.close();
say('end');

/** All pages of a list. */
async function drain(ask, field) {
  const entries = [];
  let pages = 0;
  let cursor;
  do {
    const page = await ask(cursor);
    entries.push(...page[field]);
    pages++;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { entries, pages };
}
