/** Finds what can be mounted in a folder, beside its files. */
import { open, readdir, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { kindOfSource } from '../../config/kinds/index.ts';
import { hostPlaces } from '../client/reaching/host-places.ts';
import { knownServers, thisMachine } from '../client/reaching/known-servers.ts';

export interface Finding {
  /** The name that it is to have, where that is free. */
  readonly name: string;
  /** For people: what it is. */
  readonly about: string;
  /** Of a configuration. */
  readonly mount: string | Readonly<Record<string, unknown>>;
}

/** Servers that hosts have for a folder. */
export interface HostFile {
  /** From the folder on. */
  readonly file: string;
  readonly names: readonly string[];
}

/** The most entries of folders that are looked at, levels of folders, and what is taken of it. */
const MAX_ENTRIES = 10_000;
const MAX_LEVELS = 3;
const MAX_FINDINGS = 20;

/** Bytes at the beginning of a file that are searched for the sign of an OpenAPI document. */
const BEGIN_BYTES = 4_096;

const DATABASE = /\.(?:db|db3|s3db|sqlite|sqlite3)$/i;

/** Databases, repositories and descriptions of APIs, in the order of their paths. */
export async function findIn(folder: string): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  if (await stat(join(folder, '.git')).catch(() => undefined))
    found.push({ name: 'history', about: 'branches, tags and commits of this repository', mount: { git: '.' } });
  let left = MAX_ENTRIES;
  const look = async (path: string, level: number): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (left-- <= 0 || found.length >= MAX_FINDINGS) return;
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const each = join(path, entry.name);
      const finding = await findingOf(each, `./${relative(folder, each).split(sep).join('/')}`, entry.isDirectory());
      if (finding !== undefined) found.push(finding);
      else if (entry.isDirectory() && level < MAX_LEVELS) await look(each, level + 1);
    }
  };
  await look(folder, 1);
  return found;
}

async function findingOf(path: string, written: string, directory: boolean): Promise<Finding | undefined> {
  const name = basename(path).replace(/\.\w+$/, '');
  if (directory ? path.endsWith('.git') : DATABASE.test(path)) {
    const kind = await kindOfSource(path, '');
    if (kind?.key === 'sql') return { name, about: 'tables and rows of a database', mount: written };
    return kind?.key === 'git' ? { name, about: 'a repository with its history', mount: written } : undefined;
  }
  if (directory || !/\.(?:ya?ml|json)$/i.test(path) || !(await isOpenApi(path))) return undefined;
  const own = /openapi|swagger/i.test(name) ? 'api' : name;
  return {
    name: own,
    about: 'what an API answers, as its OpenAPI document describes it',
    mount: { http: { [own]: { openapi: written } } },
  };
}

async function isOpenApi(path: string): Promise<boolean> {
  try {
    await using file = await open(path, 'r');
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(BEGIN_BYTES), position: 0 });
    return /^\s*(?:\{\s*)?["']?openapi["']?\s*:\s*["']?3\.[01]/m.test(buffer.toString('utf8', 0, bytesRead));
  } catch {
    return false;
  }
}

/** Files of hosts in the folder, with the names of the servers in them. */
export async function hostFilesIn(folder: string): Promise<readonly HostFile[]> {
  const machine = { ...thisMachine(), cwd: folder };
  const own = hostPlaces(machine).filter(
    ({ scope, section }) => scope === 'project' && /^(?:mcpServers|servers)$/.test(section[0] ?? ''),
  );
  const known = (await knownServers(undefined, machine)).filter(({ disabled }) => !disabled);
  return own
    .map(({ file }) => ({
      file: relative(folder, file).split(sep).join('/'),
      names: known.filter((server) => server.file === file).map(({ name }) => name),
    }))
    .filter(({ names }) => names.length > 0);
}
