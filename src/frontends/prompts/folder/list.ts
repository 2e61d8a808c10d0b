/** Lists the files of a folder that are prompts. */
import type { Context } from '../../../core/context.ts';
import type { ResourceProvider } from '../../../core/provider.ts';
import type { Resource } from '../../../protocol/resources.ts';
import { PROMPT_SUFFIX } from './file.ts';

/** The most prompts of one folder. */
export const MAX_PROMPT_FILES = 500;

/** The most entries of the folder that are looked at. */
const MAX_ENTRIES = 5_000;

/** @throws ResourceError the errors of `list`, such as `not-found` for a folder that does not exist */
export async function listPromptFiles(
  provider: ResourceProvider,
  uri: string,
  ctx: Context,
): Promise<readonly Resource[]> {
  const files: Resource[] = [];
  let seen = 0;
  let cursor: string | undefined;
  do {
    const page = await provider.list(uri, { cursor, limit: MAX_PROMPT_FILES }, ctx);
    files.push(...page.resources.filter(isPromptFile));
    // An empty page counts like one entry, since empty pages may have no end.
    seen += Math.max(1, page.resources.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined && files.length <= MAX_PROMPT_FILES && seen < MAX_ENTRIES);
  if (cursor !== undefined || files.length > MAX_PROMPT_FILES)
    ctx.log.warn('a folder of prompts is used in part', { uri, prompts: MAX_PROMPT_FILES, entries: MAX_ENTRIES });
  return files.slice(0, MAX_PROMPT_FILES);
}

const isPromptFile = ({ name, capabilities }: Resource): boolean =>
  capabilities?.list !== true && name.endsWith(PROMPT_SUFFIX) && name !== PROMPT_SUFFIX;
