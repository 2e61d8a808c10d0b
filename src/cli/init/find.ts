/** Finds the databases, repositories, API documents and servers in a folder that can be mounted. */
import { open, readdir, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { kindOfSource } from '../../config/kinds/index.ts';
import { hostPlaces } from '../client/reaching/host-places.ts';
import { knownServers, thisMachine } from '../client/reaching/known-servers.ts';

/** Something in a folder that can be mounted. */
export interface Finding {
  /** The wanted name of the mount. */
  readonly name: string;
  /** Describes the finding for people. */
  readonly about: string;
  /** The mount as a configuration has it. */
  readonly mount: string | Readonly<Record<string, unknown>>;
}

/** A file in which a host keeps the servers of a folder. */
export interface HostFile {
  /** The path of the file, relative to the folder. */
  readonly file: string;
  /** The names of the servers. */
  readonly names: readonly string[];
}

/** The most entries of folders, levels of folders, and findings. */
const MAX_ENTRIES = 10_000;
const MAX_LEVELS = 3;
const MAX_FINDINGS = 20;

/** Bytes at the beginning of a file that are searched for the sign of an OpenAPI document. */
const BEGIN_BYTES = 4_096;

const DATABASE = /\.(?:db|db3|s3db|sqlite|sqlite3)$/i;

/** Finds databases, repositories and documents of APIs, in the order of their paths. */
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
      const child = join(path, entry.name);
      const finding = await findingOf(child, `./${relative(folder, child).split(sep).join('/')}`, entry.isDirectory());
      if (finding !== undefined) found.push(finding);
      else if (entry.isDirectory() && level < MAX_LEVELS) await look(child, level + 1);
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
  const mountName = /openapi|swagger/i.test(name) ? 'api' : name;
  return {
    name: mountName,
    about: 'the answers of an API, as its OpenAPI document describes them',
    mount: { http: { [mountName]: { openapi: written } } },
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

/** Finds the files of hosts in a folder that name servers. */
export async function hostFilesIn(folder: string): Promise<readonly HostFile[]> {
  const machine = { ...thisMachine(), cwd: folder };
  const places = hostPlaces(machine).filter(
    ({ scope, section }) => scope === 'project' && /^(?:mcpServers|servers)$/.test(section[0] ?? ''),
  );
  const servers = (await knownServers(undefined, machine)).filter(({ disabled }) => !disabled);
  return places
    .map(({ file }) => ({
      file: relative(folder, file).split(sep).join('/'),
      names: servers.filter((server) => server.file === file).map(({ name }) => name),
    }))
    .filter(({ names }) => names.length > 0);
}
