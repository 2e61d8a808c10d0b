/**
 * File names out of URIs. A server chooses its URIs freely: whatever it chooses, what comes out is names that every file
 * system takes as one name each, so that nothing leads out of the folder (SEC-RES-3).
 */

import { createHash } from 'node:crypto';
import { decodedText } from '../../../core/uri.ts';
import { plainName } from '../../file-names.ts';
import { identityOf, insideOf } from '../../shapes.ts';
import { inertName, type Standing } from './acting.ts';

/** The most bytes of a name that all file systems take. */
const MAX_NAME_BYTES = 255;

/** The most bytes of a name without what makes it different from another one. */
const MAX_PLAIN_BYTES = 240;

/** The most folders below each other. The middle folders of a deeper path become one name. */
const MAX_SEGMENTS = 32;

/** The folder that `get` keeps for itself. */
export const OWN_FOLDER = '.vitrine-get';

/** No name that tools act on is wanted as it is. */
const NONE: ReadonlySet<string> = new Set();

/** One step of the way to a file. */
export interface Step {
  /** Its part of the URI: tells two containers apart whose names come out the same. */
  readonly raw: string;
  readonly name: string;
}

/**
 * The way to a resource's file: below the start it is the rest of the URI, for all others scheme, authority and path.
 * @param start the URI that is got, where it is one
 * @param keep names that stay as they are though tools act on them, as `keptNames` gives them
 */
export function stepsOf(uri: string, start: string | undefined, keep = NONE): readonly Step[] {
  const raws = rawSteps(uri, start);
  const kept = raws.length > MAX_SEGMENTS ? shortened(raws) : raws;
  return kept.map((raw, at) => ({ raw, name: safeName(raw, { top: at === 0, file: at === kept.length - 1 }, keep) }));
}

/** The names that lead to a resource, as people read them: below the start, or from the scheme on. */
export const namesTo = (uri: string, start: string | undefined): readonly string[] =>
  rawSteps(uri, start).map(decodedText);

function rawSteps(uri: string, start: string | undefined): readonly string[] {
  if (start !== undefined) {
    const inside = insideOf(start);
    if (uri.startsWith(inside) && uri.length > inside.length) return split(uri.slice(inside.length));
    if (identityOf(uri) === identityOf(start)) return [split(afterScheme(uri)).at(-1) ?? ''];
  }
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(uri)?.[0] ?? '';
  return [scheme, ...split(afterScheme(uri))];
}

const afterScheme = (uri: string): string => uri.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/{0,3}/, '');

/** A slash at the end names the same as none. */
const split = (path: string): readonly string[] => path.replace(/\/+$/, '').split('/');

function shortened(raws: readonly string[]): readonly string[] {
  const last = raws.at(-1) ?? '';
  const middle = raws.slice(MAX_SEGMENTS - 2, -1).join('/');
  return [...raws.slice(0, MAX_SEGMENTS - 2), `~${digest(middle, 16)}`, last];
}

/** Characters that some file system takes for something else than a character, or that nobody sees. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}/\\:*?"<>|]/gu;

/** Names of devices on Windows, with or without an extension. */
const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?:\.|$)/i;

/** One segment of a URI as a name: its escapes decoded once, and escaped again where a name must not have them. */
export function safeName(segment: string, standing: Standing, keep = NONE): string {
  const escaped = decodedText(segment).toWellFormed().replace(UNSAFE, escapedBytes);
  // `.` and `..` among them.
  const ended = escaped.replace(/[. ]$/, escapedBytes);
  const begun = RESERVED.test(ended.replace(/ +(?=\.|$)/, '')) ? `_${ended}` : ended;
  const inert = inertName(begun.replace(/^ /, escapedBytes), standing, keep);
  const name = plainName(inert) === OWN_FOLDER ? `_${inert}` : inert;
  if (name === '') return '_';
  return Buffer.byteLength(name) <= MAX_PLAIN_BYTES ? name : marked(name, digest(segment, 16));
}

/** Whether a path that was written down may be used as it stands. */
export const isSafePath = (path: readonly string[], keep = NONE): boolean =>
  path.length > 0 &&
  path.every((name, at) => {
    const standing = { top: at === 0, file: at === path.length - 1 };
    return isSafeName(name) && plainName(name) !== OWN_FOLDER && inertName(name, standing, keep) === name;
  });

/** Whether every file system takes a name as it stands. */
export const isSafeName = (name: string): boolean =>
  name !== '' &&
  Buffer.byteLength(name) <= MAX_NAME_BYTES &&
  name.isWellFormed() &&
  name.search(UNSAFE) === -1 &&
  !/^ |[. ]$/.test(name);

const escapedBytes = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** The same name with a mark before its extension: `guide~1f2e3d4c.md`. It is shortened where that is needed. */
export function marked(name: string, mark: string): string {
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : '';
  const room = MAX_NAME_BYTES - Buffer.byteLength(`~${mark}${extension}`);
  let stem = '';
  let bytes = 0;
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += Buffer.byteLength(character);
    if (bytes > room) break;
    stem += character;
  }
  // An escape is not cut in two, and what is not at the end any more may have been unsafe there.
  return `${stem.replace(/%[0-9A-F]?$/, '')}~${mark}${extension}`;
}

/** Hexadecimal digits of the SHA-256 of a text. */
export const digest = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length);
