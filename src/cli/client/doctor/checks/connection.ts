/** Checks of the handshake, and of basic requests. */
import { type Data, isData } from '../../../../protocol/data.ts';
import { type Check, notApplicable, ok, problem, problems } from '../check.ts';
import { LIST_NAMES, LISTS } from '../examined.ts';
import { answerText, ENVELOPE } from '../wire.ts';

const group = 'Connection';

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** Returns the server's `serverInfo` in either era; undefined if there is none. */
export function serverInfoOf(hello: Data): Data | undefined {
  if (isData(hello.serverInfo)) return hello.serverInfo;
  const meta = isData(hello._meta) ? hello._meta : {};
  return isData(meta[SERVER_INFO]) ? meta[SERVER_INFO] : undefined;
}

export const CONNECTION_CHECKS: readonly Check[] = [
  {
    id: 'server-info',
    group,
    title: 'The server gives its name and version',
    clause: 'basic/lifecycle, Initialization; schema, Implementation',
    level: 'error',
    async run({ hello }) {
      const info = serverInfoOf(hello);
      const missing = ['name', 'version'].filter((key) => typeof info?.[key] !== 'string' || info[key] === '');
      if (missing.length === 0) return ok(`${info?.name} ${info?.version}`);
      return problem(`serverInfo has no ${missing.join(' and no ')}`, 'Send both in serverInfo, as texts.');
    },
  },
  {
    id: 'capabilities',
    group,
    title: 'The declared capabilities have the right form',
    clause: 'schema, ServerCapabilities',
    level: 'error',
    async run({ hello, capabilities }) {
      if (!isData(hello.capabilities)) {
        return problem('The handshake has no capabilities', 'Send capabilities: {}, at the least.');
      }
      const wrong = Object.entries(capabilities).filter(([, value]) => !isData(value));
      const flags = ['resources', 'tools', 'prompts'].flatMap((name) => {
        const declared = capabilities[name];
        return Object.entries(isData(declared) ? declared : {})
          .filter(([key, value]) => /^(?:listChanged|subscribe)$/.test(key) && typeof value !== 'boolean')
          .map(([key]) => `${name}.${key} is not a boolean`);
      });
      return problems(
        [...wrong.map(([name]) => `${name} is not an object`), ...flags],
        'A capability is an object, {} if it has no flags; its flags are booleans.',
      );
    },
  },
  {
    id: 'declared-works',
    group,
    title: 'Every declared capability has lists that work',
    clause: 'basic/lifecycle, Capability Negotiation',
    level: 'error',
    async run({ examined }) {
      const seen: string[] = [];
      let declared = 0;
      for (const name of LIST_NAMES) {
        const list = await examined.list(name);
        if (!list.declared) continue;
        declared++;
        // Templates have no capability of their own.
        const without = name === 'templates' && list.failure?.kind === 'error' && list.failure.error.code === -32_601;
        if (list.failure !== undefined && !without) seen.push(`${LISTS[name].method}: ${answerText(list.failure)}`);
      }
      if (declared === 0) return notApplicable('No resources, tools or prompts are declared');
      return problems(seen, 'Answer the lists of every declared capability, or do not declare it.');
    },
  },
  {
    id: 'undeclared-works',
    group,
    title: 'Every list that works has a declared capability',
    clause: 'basic/lifecycle, Capability Negotiation',
    level: 'warning',
    async run({ examined }) {
      const seen: string[] = [];
      for (const name of LIST_NAMES) {
        const { declared, entries } = await examined.list(name);
        if (!declared && entries.length > 0) seen.push(`${LISTS[name].method} has ${entries.length} entries`);
      }
      return problems(seen, 'Declare the capability: hosts do not request lists of undeclared capabilities.');
    },
  },
  {
    id: 'ping',
    group,
    title: 'The server answers a ping',
    clause: 'basic/utilities/ping',
    level: 'error',
    era: 'legacy',
    async run({ wire }) {
      const answer = await wire.ask('ping');
      return answer.kind === 'result'
        ? ok()
        : problem(`ping: ${answerText(answer)}`, 'Answer ping with an empty result.');
    },
  },
  {
    id: 'unknown-method',
    group,
    title: 'An unknown method is refused with -32601',
    clause: 'JSON-RPC 2.0, 5.1; basic, Responses',
    level: 'error',
    async run({ wire }) {
      const answer = await wire.ask('vitrine/no-such-method', {});
      if (answer.kind === 'error' && answer.error.code === -32_601) return ok();
      return problem(
        `vitrine/no-such-method: ${answerText(answer)}`,
        'Answer with the error -32601 (Method not found): it tells clients which methods a server lacks.',
        // Another error is still a refusal.
        answer.kind === 'error' ? 'warning' : 'error',
      );
    },
  },
  {
    id: 'unknown-notification',
    group,
    title: 'The server still answers after an unknown notification',
    clause: 'JSON-RPC 2.0, 4.1',
    level: 'error',
    async run({ wire, era }) {
      await wire.notify('notifications/vitrine/no-such-notification');
      const answer = era === 'legacy' ? await wire.ask('ping') : await wire.ask('server/discover');
      if (answer.kind !== 'none') return ok();
      return problem(`The next request was not answered: ${answer.why}`, 'Ignore unknown notifications.');
    },
  },
  {
    id: 'request-ids',
    group,
    title: 'An id comes back as it was sent, whatever its type',
    clause: 'JSON-RPC 2.0, 4 and 5; basic, Requests',
    level: 'error',
    async run({ wire, era }) {
      const seen: string[] = [];
      const ids = [0, Number.MAX_SAFE_INTEGER, 'ü/"\\ ', 'x'.repeat(200)];
      for (const id of ids) {
        const answer = await wire.ask(era === 'legacy' ? 'ping' : 'server/discover', undefined, { id });
        if (answer.kind === 'none') seen.push(`id ${JSON.stringify(id).slice(0, 40)}: ${answer.why}`);
      }
      return problems(seen, 'Return the id unchanged: any text, and any whole number.');
    },
  },
  {
    id: 'malformed-params',
    group,
    title: 'Wrong parameters are refused with -32602',
    clause: 'JSON-RPC 2.0, 5.1; server/resources, server/prompts, Error Handling',
    level: 'error',
    async run({ wire, capabilities }) {
      const requests: readonly (readonly [string, string, unknown])[] = [
        ['resources', 'resources/read', {}],
        ['resources', 'resources/read', { uri: 42 }],
        ['prompts', 'prompts/get', {}],
        ['prompts', 'prompts/get', { name: ['none'] }],
        ['completions', 'completion/complete', { ref: 'none' }],
      ];
      const declared = requests.filter(([capability]) => isData(capabilities[capability]));
      if (declared.length === 0) return notApplicable('No method with parameters is declared');
      const taken: string[] = [];
      const other: string[] = [];
      for (const [, method, params] of declared) {
        const answer = await wire.ask(method, params);
        if (answer.kind === 'error' && answer.error.code === -32_602) continue;
        const seen = `${method} with ${JSON.stringify(params)}: ${answerText(answer)}`;
        if (answer.kind === 'error') other.push(seen);
        else taken.push(seen);
      }
      const mend = 'Check parameters before using them, and answer -32602 (Invalid params) where they are wrong.';
      // An internal error blames the server, and tells clients that they may try again.
      return taken.length > 0 ? problems([...taken, ...other], mend) : problems(other, mend, 'warning');
    },
  },
  {
    id: 'unsupported-version',
    group,
    title: 'An unknown revision is refused, and the error lists the known ones',
    clause: 'basic/lifecycle, Version Negotiation (2026-07-28: UnsupportedProtocolVersionError)',
    level: 'error',
    era: 'modern',
    async run({ wire }) {
      const meta = { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '1999-01-01' };
      if (wire.transport === 'http') return versionOverHttp(wire, meta);
      return versionFinding(await wire.ask('resources/list', {}, { meta }));
    },
  },
];

type HttpContext = Extract<Parameters<Check['run']>[0]['wire'], { readonly transport: 'http' }>;

async function versionOverHttp(wire: HttpContext, meta: Data) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/list', params: { _meta: meta } });
  const headers = { ...wire.headersFor('resources/list', {}), 'mcp-protocol-version': '1999-01-01' };
  const { status, text } = await wire.send({ headers, body });
  const code = /"code"\s*:\s*(-?\d+)/.exec(text)?.[1];
  if (status === 400 && code === '-32022') return ok();
  return problem(`HTTP ${status}, error ${code ?? 'none'}`, VERSION_MEND);
}

const VERSION_MEND = 'Answer -32022 with data.supported and data.requested (over HTTP with status 400).';

function versionFinding(answer: Awaited<ReturnType<HttpContext['ask']>>) {
  if (answer.kind === 'error' && answer.error.code === -32_022) return ok();
  return problem(`A request of 1999-01-01: ${answerText(answer)}`, VERSION_MEND);
}
