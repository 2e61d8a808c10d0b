/** The kind `sql`: SQLite files, recognised by their first bytes, and PostgreSQL, MySQL and MariaDB, recognised by their URLs. */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { SqlConfig } from '../../providers/sql/config.ts';
import { databaseName, isDatabaseUrl } from '../../providers/sql/dialects.ts';
import type { MountKind } from './kind.ts';

/** Every SQLite file begins with these bytes (https://sqlite.org/fileformat.html, section 1.3). */
export const SQLITE_MAGIC = Buffer.from('SQLite format 3\0', 'latin1');

export const sqlKind: MountKind<SqlConfig> = {
  key: 'sql',
  recognises: async (source, base) => isDatabaseUrl(source) || (await isSqliteFile(resolve(base, source))),
  nameOf: databaseName,
  async open(name, block, { base, log }) {
    const { sqlProvider } = await import('../../providers/sql/index.ts');
    return await sqlProvider({ ...block, name, base, ...(log !== undefined && { log }) });
  },
};

async function isSqliteFile(path: string): Promise<boolean> {
  try {
    await using file = await open(path, 'r');
    if (!(await file.stat()).isFile()) return false;
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(SQLITE_MAGIC.byteLength), position: 0 });
    return bytesRead === SQLITE_MAGIC.byteLength && buffer.equals(SQLITE_MAGIC);
  } catch {
    return false;
  }
}
