/**
 * The official suite runs its client scenarios against this: a program around `vitrine/client` that does what a host
 * would do with the server of each scenario. `scripts/conformance/client.mjs` runs it.
 */
import {
  type Client,
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client';
import { createResourceClient, type HttpTarget, listSkills, type ResourceClient, readSkill } from 'vitrine/client';
import { authorizedFetch } from './authorized-fetch.ts';

interface ToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

interface ScenarioContext {
  readonly toolCalls?: readonly ToolCall[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_token_endpoint?: string;
}

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '2025-11-25';
const given: ScenarioContext = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const url = process.argv[2] ?? '';

/**
 * The servers of these scenarios answer neither `server/discover` nor `initialize`. `discovering` answers the former for them.
 */
const WITHOUT_DISCOVERY = new Set([
  'http-standard-headers',
  'http-custom-headers',
  'http-invalid-tool-headers',
  'sep-2322-client-request-state',
]);

async function discovering(address: string | URL | Request, init?: RequestInit): Promise<Response> {
  const message = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
  if (message?.method !== 'server/discover') return fetch(address, init);
  const result = {
    resultType: 'complete',
    supportedVersions: [revision],
    capabilities: { tools: {}, resources: {}, prompts: {} },
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scenario', version: '1.0.0' } },
  };
  return Response.json({ jsonrpc: '2.0', id: message.id, result });
}

/** The credentials of a program that has no user. */
function machineOf({ client_id: clientId = '', client_secret, private_key_pem, signing_algorithm }: ScenarioContext) {
  if (scenario === 'auth/client-credentials-basic' && client_secret !== undefined)
    return new ClientCredentialsProvider({ clientId, clientSecret: client_secret });
  if (scenario === 'auth/client-credentials-jwt' && private_key_pem !== undefined)
    return new PrivateKeyJwtProvider({
      clientId,
      privateKey: private_key_pem,
      algorithm: signing_algorithm ?? 'ES256',
    });
  return undefined;
}

/** The credentials of a user who signed in at the identity provider of a company. */
function employeeOf({ client_id: clientId = '', client_secret: clientSecret = '', ...idp }: ScenarioContext) {
  const { idp_client_id, idp_id_token, idp_token_endpoint } = idp;
  if (idp_client_id === undefined || idp_id_token === undefined || idp_token_endpoint === undefined) return undefined;
  return new CrossAppAccessProvider({
    clientId,
    clientSecret,
    assertion: async ({ authorizationServerUrl: audience, resourceUrl: resource, scope }) => {
      const asked = { audience, resource, ...(scope !== undefined && { scope }) };
      const by = { tokenEndpoint: idp_token_endpoint, idToken: idp_id_token, clientId: idp_client_id };
      return (await requestJwtAuthorizationGrant({ ...asked, ...by })).jwtAuthGrant;
    },
  });
}

const machine = machineOf(given) ?? employeeOf(given);
const filledIn = scenario === 'sep-2322-client-request-state' ? { confirmed: true } : {};
const target: HttpTarget = {
  url,
  clientInfo: { name: 'vitrine-conformance', version: '1.0.0' },
  clientOptions: {
    capabilities: {
      elicitation: { form: { applyDefaults: true } },
      ...(scenario === 'request-metadata' && { roots: { listChanged: true }, sampling: {} }),
    },
    versionNegotiation: { mode: revision === '2025-11-25' ? 'legacy' : 'auto' },
  },
  prepare(client) {
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept' as const, content: filledIn }));
  },
  ...(machine !== undefined && { authProvider: machine }),
  ...(machine === undefined && scenario.startsWith('auth/') && { fetch: authorizedFetch(url, given) }),
  ...(WITHOUT_DISCOVERY.has(scenario) && { fetch: discovering }),
};

/** Makes the calls in their order; default: calls every listed tool. @param patient whether it goes on after a call that fails */
async function callTools(client: Client, calls?: readonly ToolCall[], patient = false): Promise<void> {
  const { tools } = await client.listTools();
  for (const call of calls ?? tools.map(({ name }) => ({ name, arguments: argumentsOf(name) }))) {
    await client.callTool(call).catch((error: unknown) => {
      if (!patient) throw error;
    });
  }
}

const argumentsOf = (tool: string): Record<string, unknown> => (tool === 'add_numbers' ? { a: 5, b: 3 } : {});

async function readEverything(resources: ResourceClient, client: Client): Promise<void> {
  await callTools(client);
  for await (const { uri } of resources.list()) await resources.read(uri);
  const { prompts } = await client.listPrompts();
  for (const { name } of prompts) await client.getPrompt({ name });
}

/** Loads all files of each skill. @throws if a file does not match its entry, or has none */
async function loadSkills(resources: ResourceClient): Promise<void> {
  for await (const skill of listSkills(resources)) {
    for await (const { verified } of readSkill(resources, skill)) if (!verified) throw new Error('It is not verified');
  }
}

/** The scenarios in which a host does something other than call each tool once. */
const SCENARIOS: Readonly<Record<string, (resources: ResourceClient, client: Client) => Promise<void>>> = {
  initialize: async (_resources, client) => void (await client.listTools()),
  'request-metadata': async () => {},
  'http-standard-headers': readEverything,
  'http-custom-headers': (_resources, client) => callTools(client, given.toolCalls),
  'http-invalid-tool-headers': (_resources, client) => callTools(client, undefined, true),
  'sep-2322-client-request-state': (_resources, client) => callTools(client, undefined, true),
  'json-schema-2020-12-preservation': async (_resources, client) => {
    const { tools } = await client.listTools();
    const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema;
    await client.callTool({ name: 'json_schema_echo', arguments: { schema } });
  },
  'sep-2640-client-no-prefetch': async (resources) => {
    for await (const { uri } of listSkills(resources)) console.log(uri);
  },
  'sep-2640-client-verify-digest': loadSkills,
  'sep-2640-client-verify-size': loadSkills,
  'sep-2640-client-verify-frontmatter': loadSkills,
  'json-schema-ref-no-deref': async (_resources, client) => void (await client.listTools()),
};

// Not `await using`: this file runs without being compiled on Node 22, which has no `await using`.
const resources = createResourceClient(target);
try {
  const client = await resources.client();
  await (SCENARIOS[scenario] ?? ((_resources, connected) => callTools(connected)))(resources, client);
} finally {
  await resources.close();
}
