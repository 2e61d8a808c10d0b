/** Decides whether a source file is a configuration, so that no configuration is served as a document by mistake. */

import { readFile, stat } from 'node:fs/promises';
import { isData } from '../protocol/data.ts';

/** `configuration`: it has `mounts`, as a vitrine.yaml does. `servers`: it has `mcpServers`, as the file of a host does. */
export type FileKind = 'configuration' | 'servers' | 'document';

/** The most bytes of a configuration. A larger file is a document. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** Tells the kind of a YAML or JSON file by its top-level keys. Any other file, and one that cannot be read, is a document. */
export async function kindOfFile(path: string): Promise<FileKind> {
  if (!/\.(?:ya?ml|json)$/i.test(path)) return 'document';
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_CONFIG_BYTES) return 'document';
    const text = await readFile(path, 'utf8');
    if (!/\b(?:mounts|mcpServers)\b/.test(text)) return 'document';
    const { parse } = await import('yaml');
    const content: unknown = parse(text, { uniqueKeys: false, maxAliasCount: 100, logLevel: 'silent' });
    if (!isData(content)) return 'document';
    if (isData(content.mounts)) return 'configuration';
    return isData(content.mcpServers) ? 'servers' : 'document';
  } catch {
    return 'document';
  }
}
