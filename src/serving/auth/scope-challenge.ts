/** Tells a client which scopes its token lacks for an operation, if nothing else is missing, so that it can ask for them. */
import type { AccessOutline, AccessRequest } from '../../core/access.ts';
import { createContext, type Principal } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Owner } from '../../core/operations.ts';
import type { Engine } from '../../engine/index.ts';
import { DIRECTORY_READ_METHOD, METADATA_METHOD } from '../../protocol/methods.ts';
import { GET_SKILL_METHOD } from '../../protocol/skills.ts';
import type { HttpAnswer, HttpRequest } from '../http/exchange.ts';
import type { Authorization } from './index.ts';

type Params = Readonly<Record<string, unknown>>;
type Asked = Omit<AccessRequest, 'principal'>;

export interface Challenged {
  readonly request: HttpRequest;
  /** The parsed body of the request. */
  readonly message: unknown;
  readonly principal: Principal;
}

/**
 * Refuses a message that would be allowed if its token had more scopes, and records this in the audit. Returns undefined if the
 * message is allowed, if scopes alone would not help, or if it is no operation on a resource, tool or prompt. This does not replace
 * the access check: the operation itself checks again.
 */
export function challengeScopes(
  engine: Guarded,
  authorization: Pick<Authorization, 'insufficient'>,
  challenged: Challenged,
): Promise<HttpAnswer | undefined> | undefined {
  const scopesFor = engine.access?.scopesFor;
  const { message } = challenged;
  if (scopesFor === undefined || !isRequest(message)) return undefined;
  const asked = accessOf(message.method, message.params ?? {});
  return asked && challenge(engine, authorization, challenged, { ...asked, method: message.method }, scopesFor);
}

type Guarded = Pick<Engine, 'access' | 'tools' | 'prompts' | 'mountOf' | 'refused'>;

async function challenge(
  engine: Guarded,
  authorization: Pick<Authorization, 'insufficient'>,
  { request, principal }: Challenged,
  { method, ...asked }: Asked & { readonly method: string },
  scopesFor: NonNullable<AccessOutline['scopesFor']>,
): Promise<HttpAnswer | undefined> {
  const { tools, prompts, mountOf } = engine;
  const { uri, name = '', operation } = asked;
  const ctx = createContext({ principal });
  const ofName = async (): Promise<Owner> => (operation === 'call' ? tools.ownerOf(name) : prompts.ownerOf(name, ctx));
  const { mount, onlyResources } = uri === undefined ? await ofName() : { mount: mountOf(uri) };
  const scopes = await scopesFor({ ...asked, principal, mount, onlyResources });
  if (scopes === undefined) return undefined;
  const target = { method, uri, name: asked.name, mount };
  engine.refused?.(target, ctx, new ResourceError('denied', 'The token lacks scopes'), LACKS_SCOPES);
  return authorization.insufficient(request, principal, scopes);
}

const LACKS_SCOPES = { effect: 'deny', rule: 'scopes that the token lacks' } as const;

const isRequest = (message: unknown): message is { readonly method: string; readonly params?: Params } =>
  typeof message === 'object' &&
  message !== null &&
  'method' in message &&
  typeof message.method === 'string' &&
  (!('params' in message) || (typeof message.params === 'object' && message.params !== null));

/** The access that a message asks for; undefined for a method without any. */
function accessOf(method: string, params: Params): Asked | undefined {
  const { uri, name } = params;
  const about = (operation: Asked['operation']): Asked | undefined =>
    typeof uri === 'string' ? { operation, uri } : undefined;
  switch (method) {
    case 'resources/read':
    case GET_SKILL_METHOD:
      return about('read');
    case METADATA_METHOD:
      return about('metadata');
    case 'resources/list':
    case DIRECTORY_READ_METHOD:
      return about('list');
    case 'resources/subscribe':
      return about('subscribe');
    case 'tools/call':
      return typeof name === 'string' ? { operation: 'call', name, arguments: argumentsIn(params) } : undefined;
    case 'prompts/get':
      return typeof name === 'string' ? { operation: 'prompt', name } : undefined;
    default:
      return undefined;
  }
}

const argumentsIn = ({ arguments: given }: Params): Params =>
  typeof given === 'object' && given !== null ? (given as Params) : {};
