/** `vitrine stat` prints everything that a server says about resources, or about itself. */
import type { ResourceMetadata } from '../../client/described.ts';
import type { Secrets } from '../../config/secrets.ts';
import { FORMATS_META_KEY } from '../../protocol/meta.ts';
import { EXIT_OK } from './exit-codes.ts';
import { messageOf, statusOf } from './failures.ts';
import { iconsText, implementationLines } from './printing/implementation.ts';
import { jsonText, type Output, safe, safeLines, valueText } from './printing/output.ts';
import { sizeText } from './printing/rows.ts';
import { onServer, type ServerFlags, type Session } from './reaching/connect.ts';
import { urisOf } from './references.ts';

/** Prints descriptions of resources, or of the server if none are named. */
export const stat = (
  server: string,
  references: readonly string[],
  flags: ServerFlags,
  secrets: Secrets,
): Promise<void> =>
  onServer(server, flags, secrets, async (session) => {
    const { output } = session;
    if (references.length === 0) return ofServer(session);
    const uris = await urisOf(references, session);
    const [only] = uris;
    if (uris.length === 1 && only !== undefined) {
      const found = await session.resources.metadata(only, { signal: session.signal });
      await output.document(dataOf(found), () => described(found, output));
      return EXIT_OK;
    }
    let status = EXIT_OK;
    const metadata = async function* (): AsyncGenerator<ResourceMetadata> {
      for (const uri of uris) {
        try {
          yield await session.resources.metadata(uri, { signal: session.signal });
        } catch (error) {
          session.signal.throwIfAborted();
          output.note(`${uri}: ${messageOf(error)}`);
          status = Math.max(status, statusOf(error));
        }
      }
    };
    let first = true;
    await output.list(mapped(metadata(), output), (found) => {
      const text = typeof found === 'string' ? `${first ? '' : '\n'}${found}` : undefined;
      first = false;
      return text;
    });
    return status;
  });

async function* mapped(found: AsyncIterable<ResourceMetadata>, output: Output): AsyncGenerator<unknown> {
  for await (const one of found) yield output.form === 'human' ? described(one, output) : dataOf(one);
}

const dataOf = ({ resource, source }: ResourceMetadata) => ({ ...resource, source });

async function ofServer({ facts, resources, output, signal, label }: Session): Promise<number> {
  const client = await resources.client(signal);
  const protocol = client.getNegotiatedProtocolVersion();
  const value = { ...facts, protocol };
  await output.document(value, () => {
    const { capabilities, instructions } = facts;
    const has = Object.keys(capabilities).filter((key) => key !== 'extensions');
    const extensions = Object.keys((capabilities.extensions ?? {}) as object);
    return fields(
      [
        ['Server', safe(facts.name ?? label)],
        ['Version', facts.version === undefined ? undefined : safe(facts.version)],
        ...implementationLines(facts),
        ['Protocol', `${safe(protocol ?? 'unknown')} (${facts.era})`],
        ['Has', has.length === 0 ? 'no declared capabilities' : safe(has.join(', '))],
        ['Extensions', extensions.length === 0 ? undefined : safe(extensions.join(', '))],
        ['Subscribe', facts.resources ? yesNo(facts.subscribe) : undefined],
        ['Instructions', instructions === undefined ? undefined : safeLines(instructions).trimEnd()],
      ],
      output,
    );
  });
  return EXIT_OK;
}

/** Fields that `stat` handles one by one; it prints all others as JSON. */
const HANDLED: ReadonlySet<string> = new Set([
  'uri',
  'name',
  'title',
  'description',
  'mimeType',
  'size',
  'annotations',
  'capabilities',
  'icons',
  '_meta',
]);

function described({ resource, source }: ResourceMetadata, output: Output): string {
  const { annotations = {}, capabilities, _meta = {}, icons, description, title, size, mimeType } = resource;
  const { [FORMATS_META_KEY]: formats, ...meta } = _meta as Readonly<Record<string, unknown>>;
  const { lastModified, audience, priority, ...more } = annotations as Readonly<Record<string, unknown>>;
  const others = Object.entries(resource).filter(([key]) => !HANDLED.has(key));
  const sources = { metadata: "the server's answer about it", list: 'its list', read: 'its contents' };
  return fields(
    [
      ['URI', safe(resource.uri)],
      ['Name', safe(resource.name)],
      ['Title', textOf(title)],
      ['Type', textOf(mimeType)],
      ['Size', size === undefined ? undefined : `${size} bytes${size < 1_000 ? '' : ` (${sizeText(size)})`}`],
      ['Modified', textOf(lastModified)],
      ['Audience', Array.isArray(audience) ? safe(audience.map(valueText).join(', ')) : undefined],
      ['Priority', textOf(priority)],
      ...Object.entries(more).map(([key, value]): Field => [safe(key), shown(value)]),
      ['Lists', capabilities?.list === undefined ? undefined : yesNo(capabilities.list)],
      ['Subscribe', capabilities?.subscribe === undefined ? undefined : yesNo(capabilities.subscribe)],
      ['Formats', Array.isArray(formats) ? formats.map(formatText).join(', ') : undefined],
      ['Icons', iconsText(icons)],
      ...others.map(([key, value]): Field => [safe(key), shown(value)]),
      ...Object.entries(meta).map(([key, value]): Field => [safe(key), shown(value)]),
      ['Description', typeof description === 'string' ? safeLines(description).trimEnd() : undefined],
      ['Known from', sources[source]],
    ],
    output,
  );
}

type Field = readonly [label: string, text: string | undefined];

/** Prints labels aligned to the right, and further lines of a text below its first line. */
function fields(all: readonly Field[], output: Output): string {
  const filled = all.filter((field): field is readonly [string, string] => field[1] !== undefined && field[1] !== '');
  const width = Math.max(...filled.map(([label]) => Math.min(label.length, 24)));
  return filled
    .map(([label, text]) => {
      const lines = text.split('\n').join(`\n${' '.repeat(width + 2)}`);
      return `${output.paint('dim', label.padStart(width))}  ${lines}`;
    })
    .join('\n');
}

const yesNo = (value: unknown): string => (value === true ? 'yes' : 'no');

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? safe(String(value)) : undefined;

/** The most characters of a value that is printed as JSON. */
const MAX_VALUE = 500;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : jsonText(value);
  return safe(text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text);
}

function formatText(format: unknown): string {
  const { mimeType, size } = (format ?? {}) as { readonly mimeType?: unknown; readonly size?: unknown };
  const bytes = typeof size === 'number' ? ` (${sizeText(size)})` : '';
  return `${typeof mimeType === 'string' ? safe(mimeType) : '?'}${bytes}`;
}
