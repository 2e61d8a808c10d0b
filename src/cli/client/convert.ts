/** `vitrine convert`: prints one document in another format, with the same conversions that a server has. */
import { stat } from 'node:fs/promises';
import { isListable } from '../../client/shapes.ts';
import type { Secrets } from '../../config/secrets.ts';
import { UsageError } from '../errors.ts';
import { readAndPrint } from './cat.ts';
import { bytesOf } from './printing/numbers.ts';
import type { OutputFlags } from './printing/output.ts';
import { onServer } from './reaching/connect.ts';

export interface ConvertFlags extends OutputFlags {
  readonly to: string;
  readonly maxBytes?: string;
}

/** The most bytes of the converted document, unless `--max-bytes` is given. */
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** The format `markdown` of `--to`. A text that cannot become Markdown is printed unchanged. */
const MARKDOWN = { name: 'markdown', accept: 'text/markdown,text/*;q=0.1' } as const;

/** Converts the first document of a file, and prints it. @throws UsageError for a folder, and if there is no file or document */
export async function convert(file: string, flags: ConvertFlags, secrets: Secrets): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) throw new UsageError(`There is no file ${file}`);
  if (!found.isFile())
    throw new UsageError(
      `${file} is no file; vitrine get ${file} --to <folder> --accept text/markdown writes what is in a folder`,
    );
  const maxBytes = bytesOf(flags.maxBytes, '--max-bytes', DEFAULT_MAX_BYTES);
  const accept = flags.to === MARKDOWN.name ? MARKDOWN.accept : flags.to;
  await onServer(file, { ...flags, asDocument: true }, secrets, async (session) => {
    const { resources, signal } = session;
    for await (const { resource } of resources.walk(undefined, { signal })) {
      if (isListable(resource) === true) continue;
      return readAndPrint(
        resource.uri,
        { accept, maxBytes, lines: undefined, range: undefined, force: false },
        session,
      );
    }
    throw new UsageError(`${file} has no content that can be converted`);
  });
}
