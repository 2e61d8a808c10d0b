/** `vitrine explain`: what somebody may do with something, and the rule that says so. */

import type { Config } from '../config/schema.ts';
import type { Secrets } from '../config/secrets.ts';
import { engineOptions } from '../configured/engine-options.ts';
import type { AccessDecision, AccessRequest } from '../core/access.ts';
import { ANONYMOUS, createContext, type Principal, SILENT } from '../core/context.ts';
import type { AccessOperation } from '../core/decided.ts';
import { ResourceError } from '../core/errors.ts';
import { createResolver } from '../core/mounts/resolver.ts';
import type { Owner } from '../core/operations.ts';
import { scrub } from '../core/text/scrub.ts';
import { createEngine, type Engine } from '../engine/index.ts';
import { createDecisions, type RulesPolicy, rulesPolicy, withConfirmed } from '../layers/access/index.ts';
import type { Resource } from '../protocol/resources.ts';
import { UsageError } from './errors.ts';
import { openSources, type SourceFlags } from './sources.ts';

export interface ExplainFlags extends Pick<SourceFlags, 'config'> {
  readonly as: string;
  readonly issuer?: string;
  readonly client?: string;
  readonly group?: readonly string[];
  readonly scope?: readonly string[];
  readonly operation?: string;
  readonly tool?: string;
  readonly prompt?: string;
  readonly arguments?: string;
}

/** @throws UsageError, ConfigError */
export async function explain(uri: string | undefined, flags: ExplainFlags, secrets: Secrets): Promise<void> {
  const requests = subjectOf(uri, flags);
  const sources = await openSources([], { config: flags.config ?? 'vitrine.yaml' }, { log: SILENT, secrets });
  const { access: given, confirm, ...options } = engineOptions(sources, false);
  const access = withConfirmed(given, confirm);
  // Without the policy: what is decided about is looked at as it is.
  const vitrine = createEngine({ ...options, audit: undefined });
  try {
    const policy = access === undefined || 'decide' in access ? access : rulesPolicy(access);
    const decisions = policy && createDecisions(policy, createResolver(sources.mounts));
    const principal = principalOf(flags, sources.config.auth?.tokens);
    print(`as ${describePrincipal(principal)}`);
    if (policy === undefined || decisions === undefined) {
      print('Everything is allowed: the configuration has no access.');
      return;
    }
    const resource = uri === undefined ? undefined : await lookedAt(vitrine.provider, uri);
    if (uri !== undefined && resource === undefined && !uri.includes('{'))
      print(`${uri} is not there; this is what would be decided`);
    for (const request of requests) {
      const { mount, onlyResources } = await ownerOf(vitrine, request);
      const asked = {
        ...request,
        mount,
        resource,
        onlyResources,
        uri: resource?.uri ?? request.uri,
      };
      const decision = await decisions.decide(asked, createContext({ principal, log: SILENT }));
      print(lineOf(request.operation, decision));
      for (const other of othersOf(policy, { ...asked, principal }))
        print(`  also    ${other.effect.padEnd(6)}  ${other.rule}`);
    }
  } finally {
    await vitrine.close();
  }
}

const OF_RESOURCES: readonly AccessOperation[] = ['list', 'read', 'metadata', 'subscribe'];
const OF_TEMPLATES: readonly AccessOperation[] = ['list', 'complete'];

type Subject = Omit<AccessRequest, 'principal'>;

/** Returns the requests to explain: every operation on a resource, or the one of a tool or prompt. */
function subjectOf(uri: string | undefined, { operation, tool, prompt, arguments: args }: ExplainFlags): Subject[] {
  const given = [uri, tool, prompt].filter((each) => each !== undefined);
  if (given.length !== 1) throw new UsageError('Say one thing to explain: a URI, or --tool <name>, or --prompt <name>');
  if (args !== undefined && tool === undefined) throw new UsageError('--arguments are those of a --tool');
  if (tool !== undefined) return [{ operation: 'call', name: tool, arguments: argumentsIn(args) }];
  if (prompt !== undefined) return [{ operation: 'prompt', name: prompt }];
  const template = uri?.includes('{') === true;
  const ofResources = template ? OF_TEMPLATES : OF_RESOURCES;
  const wanted = operation === undefined ? ofResources : ofResources.filter((each) => each === operation);
  if (wanted.length === 0)
    throw new UsageError(`--operation is one of ${ofResources.join(', ')}; for tools and prompts use --tool, --prompt`);
  return wanted.map((each) => ({ operation: each, uri, ...(template && { template }) }));
}

function argumentsIn(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {}
  throw new UsageError(`--arguments takes a JSON object, as in --arguments '{"path": "guide"}'`);
}

type Tokens = NonNullable<Config['auth']>['tokens'];

/** @throws UsageError for a token that the configuration does not have */
function principalOf({ as, issuer, client, group = [], scope = [] }: ExplainFlags, tokens: Tokens = []): Principal {
  if (as === ANONYMOUS.id) return ANONYMOUS;
  // A static token is called by its name, as in the configuration.
  const token = /^token:(.+)$/.exec(as)?.[1];
  const known = tokens.find(({ name }) => name === token);
  if (token !== undefined && known === undefined) {
    const names = tokens.map(({ name }) => `token:${name}`).join(', ');
    throw new UsageError(`The configuration has no ${as} in auth.tokens; it has ${names === '' ? 'none' : names}`);
  }
  const subject = token ?? as;
  return {
    id: token === undefined ? `${issuer ?? ''}#${subject}` : as,
    subject,
    ...(issuer !== undefined && { issuer }),
    ...(client !== undefined && { clientId: client }),
    groups: [...(known?.groups ?? []), ...group],
    scopes: [...(known?.scopes ?? []), ...scope],
  };
}

function describePrincipal({ id, subject, issuer, clientId, groups = [], scopes = [] }: Principal): string {
  if (id === ANONYMOUS.id) return 'anonymous: somebody without a token, or over stdio';
  const parts = [
    `subject ${subject}`,
    ...(issuer === undefined ? [] : [`issuer ${issuer}`]),
    ...(clientId === undefined ? [] : [`client ${clientId}`]),
    `groups ${groups.join(' ') || 'none'}`,
    `scopes ${scopes.join(' ') || 'none'}`,
  ];
  return parts.join(', ');
}

/** Its description, or undefined where there is no such thing. */
async function lookedAt(provider: { metadata: MetadataOf }, uri: string): Promise<Resource | undefined> {
  try {
    return await provider.metadata(uri, createContext({ roots: ['file:///'] }));
  } catch (error) {
    if (error instanceof ResourceError && (error.code === 'not-found' || error.code === 'invalid')) return undefined;
    throw error;
  }
}

type MetadataOf = (uri: string, ctx: ReturnType<typeof createContext>) => Promise<Resource>;

/** As the server itself finds it. */
async function ownerOf({ mountOf, tools, prompts }: Engine, { uri, operation, name = '' }: Subject): Promise<Owner> {
  if (uri !== undefined) return { mount: mountOf(uri) };
  return operation === 'call' ? tools.ownerOf(name) : prompts.ownerOf(name, createContext());
}

const lineOf = (operation: AccessOperation, { effect, rule, scopes }: AccessDecision): string =>
  `${operation.padEnd(9)} ${effect.padEnd(6)}  ${rule}${scopes === undefined ? '' : `; allowed with the scopes ${scopes.join(' ')}`}`;

/** Rules that match as well, and do not decide. */
const othersOf = (policy: object, asked: AccessRequest): readonly AccessDecision[] =>
  'matching' in policy ? (policy as RulesPolicy).matching(asked).slice(1) : [];

const print = (line: string): void => void process.stdout.write(`${scrub(line)}\n`);
