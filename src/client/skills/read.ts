/**
 * Files of a skill, read when they are asked for, and given only if they are what the entry of the skill says (SEP-2640,
 * Integrity and Verification). Nothing in them is carried out.
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
import type { ResourceClient } from '../client.ts';
import { type ReadItem, textOf } from '../contents.ts';
import { invalidAnswer, ResourceClientError } from '../errors.ts';
import type { Data } from '../link.ts';
import { isListable } from '../shapes.ts';
import { pathIn, skillRoot } from './entry.ts';
import { differingFields, skillText } from './frontmatter.ts';

/** A file of a skill. */
export interface SkillFile {
  readonly uri: string;
  /** The names from the skill's folder to the file, as the server has them: no file system has looked at them. */
  readonly path: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** As text; undefined for what is not UTF-8. Instructions in it are the server's, and so is markup. */
  readonly text: string | undefined;
  /** It has the size and the digest of its entry. False for files of `dynamic` skills: nothing says what they should be. */
  readonly verified: boolean;
}

/** The outcome of reading every file of a skill. */
export interface SkillVerification {
  readonly skill: Skill;
  /** False for a `dynamic` skill. What is not as the entry says is thrown. */
  readonly verified: boolean;
  readonly files: number;
  /** Bytes of all files. */
  readonly bytes: number;
}

/**
 * Reads one file of a skill.
 * @param file its URI, or its path from the skill's folder, such as `references/FORMS.md`. Default: `SKILL.md`
 * @throws ResourceClientError `mismatch` for a file that is not as its entry says, or that the skill does not list; those of
 *   a read
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
  const read = async (how: CallOptions): Promise<SkillFile> => {
    const item = await itemOf(client, entry ?? { uri }, how);
    const found = { uri, path, bytes: item.bytes(), text: item.text(), verified: entry !== undefined };
    await checkSkillFile(skill, entry ?? { uri }, found.bytes);
    return found;
  };
  try {
    return await read(options);
  } catch (error) {
    // A kept answer may be older than the entry.
    if (options.fresh === true || (error as ResourceClientError).code !== 'mismatch') throw error;
    return await read({ ...options, fresh: true });
  }
}

/**
 * Reads every file of a skill, one after the other, `SKILL.md` first. Of a `dynamic` skill that is `SKILL.md`, and what the
 * server lists below the folder, if it declares such lists.
 * @throws ResourceClientError `mismatch`, after which nothing more is read; `too-large` for more than the limits of a skill;
 *   those of a read
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

/** Reads every file of a skill to say whether each is as the entry says. Keeps none of them. @throws as `readSkill` does */
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

/** The entry of a file; undefined for those of a dynamic skill. @throws ResourceClientError `mismatch` for one that is not listed */
function entryOf({ resources, ...skill }: Skill, uri: string, path: readonly string[]): SkillResource | undefined {
  if (resources === DYNAMIC) return undefined;
  const name = path.join('/');
  const entry =
    resources.find((each) => each.uri === uri) ?? resources.find((each) => pathIn(skill, each.uri).join('/') === name);
  if (entry !== undefined) return entry;
  const data = { what: 'unlisted', expected: 'a file that the skill lists', got: name };
  throw new ResourceClientError('mismatch', 'The file is none of those that the skill lists', { uri, data });
}

/** Reads a file, as far as its size goes. */
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
 * @param file its entry, or its URI alone of a dynamic skill
 * @throws ResourceClientError `mismatch`; `invalid-answer` for a `SKILL.md` that is none
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

/** Files whose entries the server sent, or that it lists now. */
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

/** The most files and folders of a dynamic skill that are looked at. */
const MAX_LISTED = 2 * MAX_SKILL_FILES;

function mismatch(uri: string, what: string, expected: unknown, got: unknown): ResourceClientError {
  const message = `The ${what} of the file is not as the skill says: expected ${expected}, got ${got}`;
  return new ResourceClientError('mismatch', message, { uri, data: { what, expected, got } });
}

const overLimit = (what: string, { uri }: Skill): ResourceClientError =>
  new ResourceClientError('too-large', `The skill has ${what}`, { uri });
