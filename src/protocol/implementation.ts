/**
 * Mends how a peer describes itself (`serverInfo`, `clientInfo`; 973-1), since strict schemas would refuse the handshake
 * because of wrong icons or of a title that is `null`.
 */
import { changed, type Data, eachOf, isData } from './data.ts';
import { isIcon, mendedIcons } from './icons.ts';
import { SERVER_INFO_KEY } from './meta.ts';

/** The optional fields that are text. */
const TEXTS = ['title', 'description', 'websiteUrl'] as const;

/** Mends a peer's description of itself, and keeps unknown fields. Returns a value that is not an object as it is. */
export function mendedImplementation(value: unknown): unknown {
  if (!isData(value)) return value;
  const { icons, ...others } = value;
  const wrong = TEXTS.filter((field) => Object.hasOwn(value, field) && typeof value[field] !== 'string');
  const kept = wrong.length === 0 ? others : withoutFields(others, wrong);
  if (icons === undefined) return wrong.length === 0 ? value : kept;
  const mended = mendedIcons(icons);
  const good = Array.isArray(mended) ? mended.filter(isIcon) : [];
  if (mended === icons && wrong.length === 0 && Array.isArray(icons) && good.length === icons.length) return value;
  return good.length === 0 ? kept : { ...kept, icons: good };
}

const withoutFields = (value: Data, fields: readonly string[]): Data =>
  Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)));

/** Mends the `clientInfo` in the params of `initialize`, so that schemas accept it. */
export function mendedHandshake(params: unknown): unknown {
  if (!isData(params)) return params;
  const clientInfo = mendedImplementation(params.clientInfo);
  return clientInfo === params.clientInfo ? params : { ...params, clientInfo };
}

/** Mends the result in a server's message: how the server describes itself, and all icons. Returns other messages as they are. */
export function mendedMessage<Message>(message: Message): Message {
  if (!isData(message) || !isData(message.result)) return message;
  const result = mendedResult(message.result);
  return result === message.result ? message : { ...message, result };
}

/** The fields of results that hold lists of entries with icons. */
const ENTRIES = ['resources', 'resourceTemplates', 'tools', 'prompts', 'contents', 'content'] as const;

function mendedResult(result: Data): Data {
  let now = changed(result, 'serverInfo', mendedImplementation);
  now = changed(now, '_meta', (meta) => (isData(meta) ? changed(meta, SERVER_INFO_KEY, mendedImplementation) : meta));
  for (const field of ENTRIES) now = changed(now, field, (entries) => eachOf(entries, withMendedIcons));
  return now;
}

/** Mends the icons of an entry of a list, or of the resource in a content block. */
const withMendedIcons = (entry: unknown): unknown =>
  isData(entry) ? changed(changed(entry, 'icons', mendedIcons), 'resource', withMendedIcons) : entry;
