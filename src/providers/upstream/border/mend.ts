/**
 * Corrects common mistakes of servers, so that strict clients accept their entries:
 *
 * - an optional field that is `null` is left out, and so is a time that is not ISO 8601 with a zone;
 * - `sizes` of an icon as one text, as in a draft of the protocol, become a list;
 * - `true` or `false` as the schema of a property becomes an object;
 * - an icon whose scheme clients must not follow is left out.
 *
 * An entry without mistakes is not copied.
 */
import { z } from 'zod';
import { isIconAddress } from '../../../core/icons.ts';
import { changed, type Data, eachOf, isData, withoutNulls } from '../../../protocol/data.ts';
import { mendedIcons } from '../../../protocol/icons.ts';
import type { EntryKind } from './schemas.ts';

/** Fields that are left out if they are `null`. */
const NULLABLE_FIELDS = [
  'title',
  'description',
  'icons',
  '_meta',
  'mimeType',
  'annotations',
  'size',
  'capabilities',
  'arguments',
  'outputSchema',
  'execution',
  'text',
  'blob',
] as const;

export function mended(kind: EntryKind, entry: unknown): unknown {
  if (!isData(entry)) return entry;
  const block = kind === 'block' ? entry : kind === 'message' ? entry.content : undefined;
  if (kind === 'message') {
    const content = mended('block', block);
    return content === block ? entry : { ...entry, content };
  }
  let result = withoutNulls(entry, NULLABLE_FIELDS);
  if (isData(block) && isData(block.resource)) {
    result = changed(result, 'resource', (resource) => mended('content', resource));
  }
  result = changed(result, 'annotations', mendedAnnotations);
  result = withoutBadIcons(changed(result, 'icons', mendedIcons));
  if (kind === 'prompt') result = changed(result, 'arguments', (list) => eachOf(list, mendedArgument));
  if (kind !== 'tool') return result;
  return changed(changed(result, 'inputSchema', mendedSchema), 'outputSchema', mendedSchema);
}

const mendedAnnotations = (value: unknown): unknown =>
  isData(value) ? withoutBadTime(withoutNulls(value, Object.keys(value))) : value;

const mendedArgument = (value: unknown): unknown =>
  isData(value) ? withoutNulls(value, ['title', 'description', 'required']) : value;

/** Leaves out icons whose scheme may run or open something (973-4). Web addresses and images as data stay. */
function withoutBadIcons(value: Data): Data {
  const { icons, ...others } = value;
  if (!Array.isArray(icons)) return value;
  const good = icons.filter((icon) => !isData(icon) || typeof icon.src !== 'string' || isIconAddress(icon.src));
  if (good.length === icons.length) return value;
  return good.length === 0 ? others : { ...value, icons: good };
}

/** ISO 8601 with a zone, as strict clients require it. */
const time = z.iso.datetime({ offset: true });

function withoutBadTime(annotations: Data): Data {
  const { lastModified, ...others } = annotations;
  if (typeof lastModified !== 'string') return annotations;
  return time.safeParse(lastModified).success ? annotations : others;
}

/** The schemas `true` and `false` as objects, since older clients accept no booleans. */
const TRUE = {};
const FALSE = { not: {} };

function mendedSchema(value: unknown): unknown {
  if (!isData(value)) return value;
  return changed(value, 'properties', (properties) => {
    if (!isData(properties)) return properties;
    const entries = Object.entries(properties);
    if (!entries.some(([, schema]) => typeof schema === 'boolean')) return properties;
    return Object.fromEntries(
      entries.map(([name, schema]) => [name, schema === true ? TRUE : schema === false ? FALSE : schema]),
    );
  });
}
