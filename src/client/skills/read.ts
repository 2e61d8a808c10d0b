/**
 * Reads files of a skill when they are asked for, and returns them only if they match the entry of the skill (SEP-2640,
 * Integrity and Verification). Nothing in them is executed.
 */
import {
  DYNAMIC,
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  SKILL_FILE,
  type Skill,
  type SkillResource,
} from '../../protocol/skills.ts';
import type { CallOptions } from '../asking.ts';
import { textOf } from '../charset.ts';
import type { ResourceClient } from '../client.ts';
import type { ReadItem } from '../contents.ts';
import { invalidAnswer, ResourceClientError } from '../errors.ts';
import type { Data } from '../link.ts';
import { isListable } from '../shapes.ts';
import { pathIn, skillRoot } from './entry.ts';
import { differingFields, skillText } from './frontmatter.ts';

/** A file of a skill. */
export interface SkillFile {
  readonly uri: string;
  /** The path of the file below the skill's folder, as the server names it. A file system may treat these names differently. */
  readonly path: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The file as text; undefined if it is not UTF-8. The server wrote all instructions and markup in it. */
  readonly text: string | undefined;
  /** Whether the file has the size and the digest of its entry. False for a `dynamic` skill, which has no entries of files. */
  readonly verified: boolean;
}

/** The outcome of reading every file of a skill. */
export interface SkillVerification {
  readonly skill: Skill;
  /** False for a `dynamic` skill, else true: `verifySkill` throws an error if a file does not match its entry. */
  readonly verified: boolean;
  readonly files: number;
  /** Bytes of all files. */
  readonly bytes: number;
}

/**
 * Reads one file of a skill.
 * @param file its URI, or its path from the skill's folder, such as `references/FORMS.md`. Default: `SKILL.md`
 * @throws ResourceClientError `mismatch` for a file that does not match its entry, or that the skill does not list; the errors
 *   of a read
 */
export async function readSkillFile(
  client: ResourceClient,
  skill: Skill,
  file: string = skill.uri,
  options: CallOptions = {},
): Promise<SkillFile> {
  const named = URI.test(file) ? file : `${skillRoot(skill)}/${file.split('/').map(encodeURIComponent).join('/')}`;
  const path = pathIn(skill, named);
  const entry = entryOf(skill, named, path);
  const { uri } = entry ?? { uri: named };
  const read = async (readOptions: CallOptions): Promise<SkillFile> => {
    const item = await itemOf(client, entry ?? { uri }, readOptions);
    const found = { uri, path, bytes: item.bytes(), text: item.text(), verified: entry !== undefined };
    await checkSkillFile(skill, entry ?? { uri }, found.bytes);
    return found;
  };
  try {
    return await read(options);
  } catch (error) {
    // A cached answer may be older than the entry.
    if (options.fresh === true || (error as ResourceClientError).code !== 'mismatch') throw error;
    return await read({ ...options, fresh: true });
  }
}

/**
 * Reads every file of a skill, one after the other, `SKILL.md` first. The other files of a `dynamic` skill are those that the
 * server lists below its folder, if it declares such lists.
 * @throws ResourceClientError `mismatch`, after which nothing more is read; `too-large` for a skill over the limits; the errors
 *   of a read
 */
export async function* readSkill(
  client: ResourceClient,
  skill: Skill,
  options: CallOptions = {},
): AsyncGenerator<SkillFile, void, undefined> {
  let files = 0;
  let bytes = 0;
  for await (const uri of urisOf(client, skill, options)) {
    if (++files > MAX_SKILL_FILES) throw overLimit(`more than ${MAX_SKILL_FILES} files`, skill);
    const file = await readSkillFile(client, skill, uri, options);
    bytes += file.bytes.length;
    if (bytes > MAX_SKILL_BYTES) throw overLimit(`more than ${MAX_SKILL_BYTES} bytes`, skill);
    yield file;
  }
}

/** Reads every file of a skill and checks that each matches its entry. Keeps none of them. @throws as `readSkill` does */
export async function verifySkill(
  client: ResourceClient,
  skill: Skill,
  options: CallOptions = {},
): Promise<SkillVerification> {
  let files = 0;
  let bytes = 0;
  for await (const file of readSkill(client, skill, options)) {
    files++;
    bytes += file.bytes.length;
  }
  return { skill, verified: skill.resources !== DYNAMIC, files, bytes };
}

const URI = /^[a-z][a-z0-9+.-]*:/i;

/** Returns the entry of a file; undefined in a dynamic skill. @throws ResourceClientError `mismatch` for a file that is not listed */
function entryOf({ resources, ...skill }: Skill, uri: string, path: readonly string[]): SkillResource | undefined {
  if (resources === DYNAMIC) return undefined;
  const name = path.join('/');
  const entry =
    resources.find((resource) => resource.uri === uri) ??
    resources.find((resource) => pathIn(skill, resource.uri).join('/') === name);
  if (entry !== undefined) return entry;
  const data = { what: 'unlisted', expected: 'a file that the skill lists', got: name };
  throw new ResourceClientError('mismatch', 'The file is none of those that the skill lists', { uri, data });
}

/** Reads a file. @throws ResourceClientError `mismatch` if it is larger than its entry says */
async function itemOf(
  client: ResourceClient,
  { uri, size }: { readonly uri: string; readonly size?: number },
  options: CallOptions,
): Promise<ReadItem> {
  try {
    const { primary } = await client.read(uri, { ...options, maxBytes: size ?? MAX_SKILL_BYTES });
    if (primary === undefined) throw invalidAnswer('The server sent no contents of the file', uri);
    return primary;
  } catch (error) {
    const sent = (error as ResourceClientError).data?.size;
    if (!(error instanceof ResourceClientError) || error.code !== 'too-large' || size === undefined) throw error;
    throw mismatch(uri, 'size', size, typeof sent === 'number' ? sent : 'more');
  }
}

/**
 * Compares a file with its entry, and a `SKILL.md` with the frontmatter of the skill.
 * @param file the entry of the file; in a dynamic skill, only its URI
 * @throws ResourceClientError `mismatch`; `invalid-answer` for a malformed `SKILL.md`
 */
export async function checkSkillFile(
  { uri, frontmatter }: Skill,
  file: { readonly uri: string; readonly size?: number; readonly digest?: string },
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  if (file.size !== undefined && bytes.length !== file.size) throw mismatch(file.uri, 'size', file.size, bytes.length);
  if (file.digest !== undefined) {
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    const digest = `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
    if (digest !== file.digest) throw mismatch(file.uri, 'digest', file.digest, digest);
  }
  if (file.uri !== uri) return;
  const text = textOf(bytes);
  if (text === undefined) throw invalidAnswer(`The ${SKILL_FILE} is not UTF-8`, uri);
  const { frontmatter: written } = await skillText(text, uri);
  const [field] = differingFields(frontmatter, written);
  if (field !== undefined) throw mismatch(uri, 'frontmatter', shown(field, frontmatter), shown(field, written));
}

const shown = (field: string, data: Data): string =>
  `${field}: ${Object.hasOwn(data, field) ? JSON.stringify(data[field]) : 'not there'}`;

/** Gives the URIs of all files: those that the skill names or, for a dynamic skill, those that the server lists now. */
async function* urisOf(client: ResourceClient, skill: Skill, options: CallOptions): AsyncGenerator<string> {
  yield skill.uri;
  const others =
    skill.resources === DYNAMIC ? listedUris(client, skill, options) : skill.resources.map(({ uri }) => uri);
  for await (const uri of others) if (uri !== skill.uri) yield uri;
}

async function* listedUris(client: ResourceClient, skill: Skill, options: CallOptions): AsyncGenerator<string> {
  const { directories, metadata } = await client.connect(options.signal);
  if (!directories && !metadata) return;
  const { signal, timeoutMs } = options;
  for await (const { resource } of client.walk(skillRoot(skill), { signal, timeoutMs, maxResources: MAX_LISTED })) {
    if (isListable(resource) !== true) yield resource.uri;
  }
}

/** The most files and folders that are listed of a dynamic skill. */
const MAX_LISTED = 2 * MAX_SKILL_FILES;

function mismatch(uri: string, what: string, expected: unknown, got: unknown): ResourceClientError {
  const message = `The ${what} of the file is not as the skill says: expected ${expected}, got ${got}`;
  return new ResourceClientError('mismatch', message, { uri, data: { what, expected, got } });
}

const overLimit = (what: string, { uri }: Skill): ResourceClientError =>
  new ResourceClientError('too-large', `The skill has ${what}`, { uri });
