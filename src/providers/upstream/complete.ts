/**
 * Completes an upstream's description of a resource from earlier ones, and limits its flags to features that this server can
 * provide (2093-1, 2093-3). Flags that this server does not know are passed on as they came (2093-14).
 */
import { sendableBlock } from '../../core/content-blocks.ts';
import { nameOfUri } from '../../core/uri.ts';
import type { EmbeddedResource } from '../../protocol/content.ts';
import { changed, type Data, eachOf, isData } from '../../protocol/data.ts';
import { DIRECTORY_MIME_TYPE, type Resource, type ResourceCapabilities } from '../../protocol/resources.ts';
import type { Facts } from './facts.ts';
import type { Entry, KnownResources } from './known.ts';

/** Completes a resource of a list or of the server's metadata. */
export function completeEntry(entry: Entry, known: KnownResources, facts: Facts): Resource {
  const { uri } = entry;
  const { name = nameOfUri(uri) ?? uri } = entry as Partial<Resource>;
  return { ...entry, uri, name, capabilities: capabilitiesOf(entry, known, facts) };
}

function capabilitiesOf(entry: Entry, known: KnownResources, facts: Facts): ResourceCapabilities {
  const { directories, metadata, subscribe } = facts;
  const declared = entry.capabilities as Partial<ResourceCapabilities> | undefined;
  if (declared !== undefined) return { list: false, ...declared, subscribe: declared.subscribe === true && subscribe };
  const isDirectory = entry.mimeType === DIRECTORY_MIME_TYPE && (directories || metadata);
  return { list: isDirectory || known.hasSeveral(entry.uri), subscribe };
}

/** Adds the name to an item of a read or an embedded resource, and its capabilities if they are known. */
export function completeItem(item: Entry, known: KnownResources, facts: Facts): Entry & Resource {
  const { uri } = item;
  const listed = known.get(uri);
  const { name = (listed as Partial<Resource> | undefined)?.name ?? nameOfUri(uri) ?? uri } = item as Partial<Resource>;
  const { capabilities = listed?.capabilities } = item;
  if (item.capabilities === undefined && listed === undefined && !known.hasSeveral(uri)) return { ...item, name };
  return { ...item, name, capabilities: capabilitiesOf({ ...listed, uri, capabilities }, known, facts) };
}

/** Changes each embedded resource in the result of a tool or prompt. The resource gets the annotations of its block (2093-9). */
export function withEmbedded(result: Data, change: (resource: Entry) => Data): Data {
  const inBlock = (block: unknown): unknown => {
    if (!isData(block) || block.type !== 'resource' || !isEntry(block.resource)) return block;
    const { annotations, ...others } = block;
    const changed = { ...others, resource: change(block.resource), ...(isData(annotations) && { annotations }) };
    return sendableBlock(changed as unknown as EmbeddedResource);
  };
  const inMessage = (message: unknown): unknown => (isData(message) ? changed(message, 'content', inBlock) : message);
  return changed(
    changed(result, 'content', (blocks) => eachOf(blocks, inBlock)),
    'messages',
    (messages) => eachOf(messages, inMessage),
  );
}

const isEntry = (value: unknown): value is Entry => isData(value) && typeof value.uri === 'string';
