/** Operations for which a token lacks nothing but scopes: the client is told which, so that it can ask for them. */
import type { AccessRequest } from '../../core/access.ts';
import type { Principal } from '../../core/context.ts';
import { DIRECTORY_READ_METHOD, METADATA_METHOD } from '../../protocol/methods.ts';
import type { Vitrine } from '../../vitrine.ts';

type Params = Readonly<Record<string, unknown>>;
type Asked = Omit<AccessRequest, 'principal'>;

/**
 * Scopes that would let a message through; undefined where it may pass, where more is missing, or where it is to be
 * answered in another way. It is a hint: whoever passes here is asked again by the operation itself.
 */
export async function scopesMissing(
  { sight, tools, mountOf }: Pick<Vitrine, 'sight' | 'tools' | 'mountOf'>,
  message: unknown,
  principal: Principal,
): Promise<readonly string[] | undefined> {
  if (sight === undefined || !isRequest(message)) return undefined;
  const asked = askedBy(message.method, message.params ?? {});
  if (asked === undefined) return undefined;
  const { uri, name = '', operation } = asked;
  const isCall = operation === 'call';
  const mount = uri === undefined ? (isCall ? tools.mountOf(name) : undefined) : mountOf(uri);
  return sight.scopesFor({ ...asked, principal, mount, ...(isCall && { onlyResources: tools.onlyResources(name) }) });
}

const isRequest = (message: unknown): message is { readonly method: string; readonly params?: Params } =>
  typeof message === 'object' &&
  message !== null &&
  'method' in message &&
  typeof message.method === 'string' &&
  (!('params' in message) || (typeof message.params === 'object' && message.params !== null));

function askedBy(method: string, params: Params): Asked | undefined {
  const { uri, name } = params;
  const about = (operation: Asked['operation']): Asked | undefined =>
    typeof uri === 'string' ? { operation, uri } : undefined;
  switch (method) {
    case 'resources/read':
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
