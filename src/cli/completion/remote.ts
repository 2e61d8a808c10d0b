/** Asks a server for shell completions. It starts no program that the user has not configured. */

import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { connectResourceClient } from '../../client/node/index.ts';
import { insideOf, isListable } from '../../client/shapes.ts';
import { listSkills } from '../../client/skills/list.ts';
import { kindOfFile } from '../../config/file-kind.ts';
import { isUrl } from '../../config/references.ts';
import type { Secrets } from '../../config/secrets.ts';
import { isData } from '../../protocol/data.ts';
import { type Definition, definitions, request } from '../client/definitions.ts';
import { createOutput } from '../client/printing/output.ts';
import { type Session, serverTarget } from '../client/reaching/connect.ts';
import { knownServers } from '../client/reaching/known-servers.ts';
import { openTarget, type TargetFlags } from '../client/reaching/target.ts';
import { topOf } from '../client/references.ts';
import { CONFIG_NAMES } from '../sources.ts';
import { type Offer, plain } from './offer.ts';
import type { Position } from './position.ts';

/** How long a completion may take, in seconds, unless `VITRINE_COMPLETION_SECONDS` says otherwise. */
const PATIENCE_SECONDS = 3;
const MAX_PATIENCE_SECONDS = 3_600;

function patienceMs(): number {
  const seconds = Number(process.env.VITRINE_COMPLETION_SECONDS ?? PATIENCE_SECONDS);
  return (seconds > 0 && seconds <= MAX_PATIENCE_SECONDS ? seconds : PATIENCE_SECONDS) * 1_000;
}

/** The most resources of a folder that completion lists. */
const MAX_LISTED = 1_000;

const NOTHING: Offer = { values: [] };

/** Offers nothing if the server does not answer in time. @param source the kind of completion */
export async function offerOfServer(
  source: 'uri' | 'skill' | 'tool' | 'prompt' | 'parameter',
  position: Position,
  secrets: Secrets,
): Promise<Offer> {
  const [server] = position.args;
  // The URI argument of `explain` belongs to a configuration, not to a server.
  if (server === undefined || position.command.registeredArguments[0]?.name() !== 'server') return NOTHING;
  const timeoutMs = patienceMs();
  const signal = AbortSignal.timeout(timeoutMs);
  const output = createOutput({ color: 'never' }, secrets, () => {});
  try {
    if (!(await mayAsk(server, position))) return NOTHING;
    const target = await openTarget(server, flagsOf(position), secrets);
    const options = { timeoutMs, signal };
    await using resources = await connectResourceClient(serverTarget(target, { connectMs: timeoutMs }), options);
    const facts = await resources.connect(signal);
    const session: Session = { resources, facts, output, signal, label: target.label, target, timeoutMs };
    if (source === 'uri') return await urisIn(session, position.typed);
    if (source === 'skill') return await skillsIn(session, position.typed);
    if (source === 'parameter') return await parametersOf(session, position);
    const names: string[] = [];
    for await (const { name } of definitions(source === 'tool' ? 'tools' : 'prompts', session)) names.push(name);
    return { values: plain(names) };
  } catch {
    return NOTHING;
  } finally {
    output.close();
  }
}

/** Keys of a mount that runs code: a program, or a plug-in. */
const STARTING = ['command', 'run', 'kind'];

/** Pressing Tab does not start programs from the current folder, nor a command that is still being typed. */
async function mayAsk(server: string, { given }: Position): Promise<boolean> {
  if (isUrl(server)) return true;
  if (given.has('mcp-config')) return false;
  if (!existsSync(server)) {
    const found = (await knownServers(undefined)).filter(({ name }) => name === server);
    return found.length > 0 && found.every(({ scope, disabled }) => scope === 'user' && !disabled);
  }
  const kind = await kindOfFile(server);
  if (kind === 'servers') return false;
  if (kind !== 'configuration' && !CONFIG_NAMES.has(basename(server))) return true;
  const { loadConfig } = await import('../../config/load.ts');
  const { mounts, mcpServers = {} } = await loadConfig(server, {});
  const starts = Object.values(mounts).some((mount) => isData(mount) && STARTING.some((key) => key in mount));
  return !starts && Object.keys(mcpServers).length === 0;
}

const flagsOf = ({ given }: Position): TargetFlags => {
  const [header, env, bearer] = [given.get('header'), given.get('env'), given.get('bearer')?.at(-1)];
  return { ...(header && { header }), ...(env && { env }), ...(bearer !== undefined && { bearer }) };
};

/** Completes URIs as files are completed: with the content of the folder typed so far. */
async function urisIn(session: Session, typed: string): Promise<Offer> {
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(typed);
  const top = whole ? [] : (await topOf(session, MAX_LISTED)).resources;
  const [root] = top;
  const only = top.length === 1 && root !== undefined && isListable(root) === true ? root : undefined;
  if (!whole && only === undefined)
    return { values: plain(top.map(({ uri }) => uri)), open: top.some((each) => isListable(each) === true) };
  const base = only === undefined ? '' : insideOf(only.uri);
  const folder = base + typed.slice(0, typed.lastIndexOf('/') + 1);
  const uri = folder === base && only !== undefined ? only.uri : folder.replace(/(?<=[^/:]|^[^:]*:\/\/[^/]+)\/$/, '');
  const listed: { readonly uri: string; readonly folder: boolean }[] = [];
  for await (const each of session.resources.list(uri, { signal: session.signal, maxResources: MAX_LISTED }))
    listed.push({ uri: each.uri, folder: isListable(each) === true });
  const offered = listed
    .filter((each) => each.uri.startsWith(base))
    .map((each) => ({ ...each, uri: each.uri.slice(base.length) }))
    .filter((each) => each.uri.startsWith(typed));
  return {
    values: plain(offered.map((each) => (each.folder ? insideOf(each.uri) : each.uri))),
    open: offered.length > 0 && offered.every((each) => each.folder),
  };
}

/** Completes names of skills, or their URIs if the typed text looks like a URI. A server without skills gets no request. */
async function skillsIn({ resources, signal }: Session, typed: string): Promise<Offer> {
  const values: string[] = [];
  for await (const { uri, frontmatter } of listSkills(resources, { signal, maxResources: MAX_LISTED })) {
    values.push(typed.includes(':') ? uri : frontmatter.name);
  }
  return { values: plain([...new Set(values)]) };
}

/** Completes `name=` for arguments of the tool or prompt that were not given yet, and then their values. */
async function parametersOf(session: Session, { command, args, given, typed }: Position): Promise<Offer> {
  const kind = command.name() === 'prompts' ? 'prompts' : 'tools';
  let found: Definition | undefined;
  for await (const each of definitions(kind, session)) if (each.name === args[1]) found = each;
  if (found === undefined) return NOTHING;
  const at = typed.indexOf('=');
  if (at === -1) {
    const taken = new Set((given.get('arg') ?? []).map((pair) => pair.split('=', 1)[0]));
    const names = namesOf(found).filter((name) => !taken.has(name));
    return { values: plain(names.map((name) => `${name}=`)), open: true };
  }
  const name = typed.slice(0, at);
  const values =
    kind === 'tools' ? choicesOf(found, name) : await completed(session, found.name, name, typed.slice(at + 1));
  return { values: plain(values.map((value) => `${name}=${value}`)) };
}

function namesOf({ inputSchema, arguments: listed }: Definition): readonly string[] {
  if (Array.isArray(listed))
    return listed.flatMap((each: unknown) => (isData(each) && typeof each.name === 'string' ? [each.name] : []));
  return isData(inputSchema) && isData(inputSchema.properties) ? Object.keys(inputSchema.properties) : [];
}

function choicesOf({ inputSchema }: Definition, name: string): readonly string[] {
  const properties = isData(inputSchema) && isData(inputSchema.properties) ? inputSchema.properties : {};
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (!isData(property)) return [];
  if (property.type === 'boolean') return ['true', 'false'];
  return Array.isArray(property.enum) ? property.enum.map(String) : [];
}

async function completed(session: Session, prompt: string, name: string, value: string): Promise<readonly string[]> {
  if (session.facts.capabilities.completions === undefined) return [];
  const ref = { type: 'ref/prompt', name: prompt };
  const { completion } = await request('completion/complete', { ref, argument: { name, value } }, session);
  return isData(completion) && Array.isArray(completion.values)
    ? completion.values.filter((each) => typeof each === 'string')
    : [];
}
