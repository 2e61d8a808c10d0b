/**
 * Who a peer says that it is (`serverInfo`, `clientInfo`; 973-1): mended where strict schemas would refuse the handshake
 * because of its icons, or of a title that is `null`.
 */
import { changed, type Data, eachOf, isData } from './data.ts';
import { isIcon, mendedIcons } from './icons.ts';
import { SERVER_INFO_KEY } from './meta.ts';

/** Fields that may be left out; each but `icons` is a text. */
const TEXTS = ['title', 'description', 'websiteUrl'] as const;

/** Mends what a peer says of itself; unknown fields are kept. A value that is no object is left as it is. */
export function mendedImplementation(value: unknown): unknown {
  if (!isData(value)) return value;
  const { icons, ...others } = value;
  const wrong = TEXTS.filter((field) => Object.hasOwn(value, field) && typeof value[field] !== 'string');
  const said = wrong.length === 0 ? others : withoutFields(others, wrong);
  if (icons === undefined) return wrong.length === 0 ? value : said;
  const all = mendedIcons(icons);
  const good = Array.isArray(all) ? all.filter(isIcon) : [];
  if (all === icons && wrong.length === 0 && Array.isArray(icons) && good.length === icons.length) return value;
  return good.length === 0 ? said : { ...said, icons: good };
}

const withoutFields = (value: Data, fields: readonly string[]): Data =>
  Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)));

/** Params of `initialize` with a client that schemas take. */
export function mendedHandshake(params: unknown): unknown {
  if (!isData(params)) return params;
  const clientInfo = mendedImplementation(params.clientInfo);
  return clientInfo === params.clientInfo ? params : { ...params, clientInfo };
}

/** A message of a server; a result that says who the server is says it as schemas take it, and so do its icons. */
export function mendedMessage<Message>(message: Message): Message {
  if (!isData(message) || !isData(message.result)) return message;
  const result = mendedResult(message.result);
  return result === message.result ? message : { ...message, result };
}

/** The keys of the entries in results. */
const ENTRIES = ['resources', 'resourceTemplates', 'tools', 'prompts', 'contents', 'content'] as const;

function mendedResult(result: Data): Data {
  let now = changed(result, 'serverInfo', mendedImplementation);
  now = changed(now, '_meta', (meta) => (isData(meta) ? changed(meta, SERVER_INFO_KEY, mendedImplementation) : meta));
  for (const field of ENTRIES) now = changed(now, field, (entries) => eachOf(entries, withMendedIcons));
  return now;
}

/** An entry of a list, or a block with a resource in it. */
const withMendedIcons = (entry: unknown): unknown =>
  isData(entry) ? changed(changed(entry, 'icons', mendedIcons), 'resource', withMendedIcons) : entry;
