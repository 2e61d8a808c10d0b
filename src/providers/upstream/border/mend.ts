/**
 * Corrects what many servers write a little differently, so that strict clients take it: `null` for a field that is not
 * there, `sizes` of an icon as one text (as a draft of the protocol had them), a time without its zone, which is left
 * out, and `true` or `false` for the schema of a property. Leaves out icons of schemes that clients must not follow.
 * Copies nothing where all is as it should be.
 */
import { z } from 'zod';
import { isIconAddress } from '../../../core/icons.ts';
import { changed, type Data, eachOf, isData, withoutNulls } from '../../../protocol/data.ts';
import { mendedIcons } from '../../../protocol/icons.ts';
import type { EntryKind } from './schemas.ts';

const FIELDS = [
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
  let result = withoutNulls(entry, FIELDS);
  if (isData(block) && isData(block.resource)) result = changed(result, 'resource', (it) => mended('content', it));
  result = changed(result, 'annotations', (it) => (isData(it) ? withTime(withoutNulls(it, Object.keys(it))) : it));
  result = withoutBadIcons(changed(result, 'icons', mendedIcons));
  if (kind === 'prompt') result = changed(result, 'arguments', (it) => eachOf(it, mendedArgument));
  if (kind !== 'tool') return result;
  return changed(changed(result, 'inputSchema', mendedSchema), 'outputSchema', mendedSchema);
}

const mendedArgument = (value: unknown): unknown =>
  isData(value) ? withoutNulls(value, ['title', 'description', 'required']) : value;

/** An icon of a scheme that runs or opens something goes to no client (973-4); those of the web, and images as data, do. */
function withoutBadIcons(value: Data): Data {
  const { icons, ...others } = value;
  if (!Array.isArray(icons)) return value;
  const good = icons.filter((icon) => !isData(icon) || typeof icon.src !== 'string' || isIconAddress(icon.src));
  if (good.length === icons.length) return value;
  return good.length === 0 ? others : { ...value, icons: good };
}

/** ISO 8601 as strict clients have it. */
const time = z.iso.datetime({ offset: true });

function withTime(annotations: Data): Data {
  const { lastModified, ...others } = annotations;
  if (typeof lastModified !== 'string') return annotations;
  return time.safeParse(lastModified).success ? annotations : others;
}

/** The same schemas as objects, which older clients want. */
const TRUE = {};
const FALSE = { not: {} };

function mendedSchema(value: unknown): unknown {
  if (!isData(value)) return value;
  return changed(value, 'properties', (properties) => {
    if (!isData(properties)) return properties;
    const entries = Object.entries(properties);
    if (!entries.some(([, each]) => typeof each === 'boolean')) return properties;
    return Object.fromEntries(
      entries.map(([name, each]) => [name, each === true ? TRUE : each === false ? FALSE : each]),
    );
  });
}
