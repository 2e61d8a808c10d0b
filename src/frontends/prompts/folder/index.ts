/**
 * Makes prompts of the Markdown files in a folder, which it reads through a provider like any resource. A broken file is left
 * out, and the log names its file and line; the other prompts are served. `docs/guide/prompts.md` describes the format.
 */
import { LRUCache } from 'lru-cache';
import { closeBodies } from '../../../core/body.ts';
import type { Context } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import { LineFault } from '../../../core/front-matter.ts';
import type { Prompt, PromptFolder, PromptSource } from '../../../core/prompt.ts';
import type { ResourceProvider } from '../../../core/provider.ts';
import type { Resource } from '../../../protocol/resources.ts';
import { encodeBody, STRINGS } from '../../resources/encode.ts';
import type { ResourceOptions } from '../../resources/options.ts';
import { PROMPT_SUFFIX, promptOfFile } from './file.ts';
import { listPromptFiles } from './list.ts';
import { watchPromptFiles } from './watch.ts';

/** The most bytes of one file. */
export const MAX_PROMPT_BYTES = 256 * 1024;

/** The most characters of parsed files that the cache keeps. */
const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024;

/** Files that are read at the same time. */
const CONCURRENCY = 16;

/** A parsed file. A broken file has no prompt; it is kept so that the log names it only once. */
interface Parsed {
  readonly prompt: Prompt | undefined;
}

/** @param resources reads the resources that the prompts embed */
export function promptFolder(folder: PromptFolder, resources: ResourceOptions): PromptSource {
  const provider = folder.provider ?? resources.provider;
  const watchable = provider.watch !== undefined && (folder.watch ?? provider.features.watch);
  const cache = new LRUCache<string, Parsed>({ maxSize: MAX_CACHED_CHARACTERS, maxEntrySize: MAX_CACHED_CHARACTERS });

  async function load(file: Resource, ctx: Context): Promise<Prompt | undefined> {
    const key = keyOf(file, ctx);
    const cached = key === undefined ? undefined : cache.get(key);
    if (cached !== undefined) return cached.prompt;
    try {
      const text = await readText(provider, file, ctx);
      const parsed = await parse(file, text, ctx);
      if (key !== undefined) cache.set(key, parsed, { size: key.length + text.length + 1 });
      return parsed.prompt;
    } catch (error) {
      if (!(error instanceof ResourceError)) throw error;
      ctx.log.warn('a prompt is left out', { file: file.name, problem: error.message });
      return undefined;
    }
  }

  async function parse(file: Resource, text: string, ctx: Context): Promise<Parsed> {
    try {
      return { prompt: await promptOfFile(file.name, text, resources) };
    } catch (error) {
      if (!(error instanceof LineFault)) throw error;
      ctx.log.warn('a prompt is left out', { file: file.name, line: error.line, problem: error.message });
      return { prompt: undefined };
    }
  }

  return {
    async list(ctx) {
      const files = await filesOrNone(provider, folder.uri, ctx);
      const prompts: (Prompt | undefined)[] = [];
      for (let at = 0; at < files.length; at += CONCURRENCY) {
        prompts.push(...(await Promise.all(files.slice(at, at + CONCURRENCY).map((file) => load(file, ctx)))));
      }
      return prompts.filter((prompt) => prompt !== undefined);
    },
    ...(watchable && {
      watch: (onChange: () => void, ctx: Context) => watchPromptFiles(provider, folder.uri, onChange, ctx),
    }),
    async close() {
      cache.clear();
      await folder.provider?.close?.();
    },
  };
}

async function filesOrNone(provider: ResourceProvider, uri: string, ctx: Context): Promise<readonly Resource[]> {
  try {
    return await listPromptFiles(provider, uri, ctx);
  } catch (error) {
    if (!(error instanceof ResourceError) || ctx.signal.aborted) throw error;
    ctx.log.warn('a folder of prompts cannot be listed', { uri, problem: error.message });
    return [];
  }
}

/** The cache key of a parsed file: principal, URI, size and time of the last change; undefined if size or time is unknown. */
function keyOf({ uri, size, annotations }: Resource, ctx: Context): string | undefined {
  if (size === undefined || annotations?.lastModified === undefined) return undefined;
  return JSON.stringify([ctx.principal.id, uri, size, annotations.lastModified]);
}

/** @throws ResourceError `too-large`, `invalid` for anything but a file of text, and the errors of the read */
async function readText(provider: ResourceProvider, { uri, name }: Resource, ctx: Context): Promise<string> {
  const bodies = await provider.read(uri, { maxBytes: MAX_PROMPT_BYTES, maxChildren: 1 }, ctx);
  try {
    const [body] = bodies;
    if (body === undefined || body.child) throw new ResourceError('invalid', `${name} is no file`, { uri });
    const options = { budget: MAX_PROMPT_BYTES, limit: MAX_PROMPT_BYTES, range: undefined };
    const { item } = await encodeBody(body, options, STRINGS, ctx);
    if ('text' in item) return item.text;
    throw new ResourceError('invalid', `A prompt is a ${PROMPT_SUFFIX} file of UTF-8 text`, { uri });
  } finally {
    await closeBodies(bodies);
  }
}
