/** `vitrine explain`: prints what a principal may do with a resource, tool or prompt, and the rule that decides it. */

import type { Config } from '../config/schema.ts';
import type { Secrets } from '../config/secrets.ts';
import { engineOptions } from '../configured/engine-options.ts';
import type { AccessRequest } from '../core/access.ts';
import { ANONYMOUS, createContext, type Principal, SILENT } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import { createResolver } from '../core/mounts/resolver.ts';
import type { Owner } from '../core/operations.ts';
import { scrub } from '../core/text/scrub.ts';
import { createEngine, type Engine } from '../engine/index.ts';
import {
  createDecisions,
  type Explained,
  explainDecision,
  principalCalled,
  questionsAbout,
  rulesPolicy,
  withConfirmed,
} from '../layers/access/index.ts';
import { isData } from '../protocol/data.ts';
import type { Resource } from '../protocol/resources.ts';
import { UsageError } from './errors.ts';
import { madeFrom, openSources, type SourceFlags } from './sources.ts';

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
  const { access, engine } = await madeFrom(sources, () => {
    const { access: given, confirm, ...options } = engineOptions(sources, false);
    // The engine gets no policy, so that looking at the resource is always allowed.
    return { access: withConfirmed(given, confirm), engine: createEngine({ ...options, audit: undefined }) };
  });
  try {
    const policy = access === undefined || 'decide' in access ? access : rulesPolicy(access);
    const decisions = policy && createDecisions(policy, createResolver(sources.mounts));
    const principal = principalOf(flags, sources.config.auth?.tokens);
    print(`as ${describePrincipal(principal)}`);
    if (policy === undefined || decisions === undefined) {
      print('Everything is allowed: the configuration has no access.');
      return;
    }
    const resource = uri === undefined ? undefined : await lookedAt(engine.provider, uri);
    if (uri !== undefined && resource === undefined && !uri.includes('{'))
      print(`${uri} does not exist; the policy would decide:`);
    for (const request of requests) {
      const { mount, onlyResources } = await ownerOf(engine, request);
      const question = {
        ...request,
        mount,
        resource,
        onlyResources,
        uri: resource?.uri ?? request.uri,
      };
      const decision = await explainDecision(policy, decisions, question, principal);
      print(lineOf(decision));
      for (const other of decision.also) print(`  also    ${other.effect.padEnd(6)}  ${other.rule}`);
    }
  } finally {
    await engine.close();
  }
}

type Subject = Omit<AccessRequest, 'principal'>;

/** Returns the requests to explain: every operation on a resource, or the one of a tool or prompt. */
function subjectOf(
  uri: string | undefined,
  { operation, tool, prompt, arguments: args }: ExplainFlags,
): readonly Subject[] {
  const given = [uri, tool, prompt].filter((each) => each !== undefined);
  if (given.length !== 1) throw new UsageError('Say one thing to explain: a URI, or --tool <name>, or --prompt <name>');
  if (args !== undefined && tool === undefined) throw new UsageError('--arguments are those of a --tool');
  if (tool !== undefined) return [{ operation: 'call', name: tool, arguments: argumentsIn(args) }];
  if (prompt !== undefined) return [{ operation: 'prompt', name: prompt }];
  const all = questionsAbout(uri ?? '');
  const wanted = operation === undefined ? all : all.filter((each) => each.operation === operation);
  if (wanted.length === 0) {
    const possible = all.map((each) => each.operation).join(', ');
    throw new UsageError(`--operation is one of ${possible}; for tools and prompts use --tool, --prompt`);
  }
  return wanted;
}

function argumentsIn(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isData(value)) return value;
  } catch {}
  throw new UsageError(`--arguments takes a JSON object, as in --arguments '{"path": "guide"}'`);
}

type Tokens = NonNullable<Config['auth']>['tokens'];

/** @throws UsageError for a token that is not in the configuration */
function principalOf({ as, issuer, client, group = [], scope = [] }: ExplainFlags, tokens: Tokens = []): Principal {
  if (as === ANONYMOUS.id) return ANONYMOUS;
  // A static token is named as in the configuration.
  const token = /^token:(.+)$/.exec(as)?.[1];
  const entry = tokens.find(({ name }) => name === token);
  if (token !== undefined && entry === undefined) {
    const names = tokens.map(({ name }) => `token:${name}`).join(', ');
    throw new UsageError(`The configuration has no ${as} in auth.tokens; it has ${names === '' ? 'none' : names}`);
  }
  const principal = principalCalled({
    subject: token ?? as,
    issuer,
    client,
    groups: [...(entry?.groups ?? []), ...group],
    scopes: [...(entry?.scopes ?? []), ...scope],
  });
  return token === undefined ? principal : { ...principal, id: as };
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

/** Returns the metadata of a resource; undefined if there is no such resource. */
async function lookedAt(provider: { metadata: MetadataOf }, uri: string): Promise<Resource | undefined> {
  try {
    return await provider.metadata(uri, createContext({ roots: ['file:///'] }));
  } catch (error) {
    if (error instanceof ResourceError && (error.code === 'not-found' || error.code === 'invalid')) return undefined;
    throw error;
  }
}

type MetadataOf = (uri: string, ctx: ReturnType<typeof createContext>) => Promise<Resource>;

/** Returns the owner of a resource, tool or prompt. The server finds it in the same way. */
async function ownerOf({ mountOf, tools, prompts }: Engine, { uri, operation, name = '' }: Subject): Promise<Owner> {
  if (uri !== undefined) return { mount: mountOf(uri) };
  return operation === 'call' ? tools.ownerOf(name) : prompts.ownerOf(name, createContext());
}

const lineOf = ({ operation, effect, rule, scopes }: Explained): string =>
  `${operation.padEnd(9)} ${effect.padEnd(6)}  ${rule}${scopes === undefined ? '' : `; allowed with the scopes ${scopes.join(' ')}`}`;

const print = (line: string): void => void process.stdout.write(`${scrub(line)}\n`);
