/**
 * Makes file names out of URIs. A server chooses its URIs freely, so each part of a URI becomes a name that every file system
 * takes as one plain name: no URI leads out of the folder (SEC-RES-3).
 */

import { createHash } from 'node:crypto';
import { decodedText } from '../../../core/uri.ts';
import { plainName } from '../../file-names.ts';
import { identityOf, insideOf } from '../../shapes.ts';
import { inertName, type Standing } from './acting.ts';

/** The most bytes of a name that all file systems take. */
const MAX_NAME_BYTES = 255;

/** The most bytes of a name without a mark (see `marked`). */
const MAX_PLAIN_BYTES = 240;

/** The most names in a path. The middle names of a longer path become one. */
const MAX_SEGMENTS = 32;

/** The folder that `get` keeps for itself. */
export const OWN_FOLDER = '.vitrine-get';

/** The default of `keep`: every name that tools act on is changed. */
const NONE: ReadonlySet<string> = new Set();

/** One name in the path of a file. */
export interface Step {
  /** The part of the URI that the name is made of. It tells apart two containers whose names come out the same. */
  readonly raw: string;
  readonly name: string;
}

/**
 * Returns the path of a resource's file. For a resource below the start, it is made of the rest of the URI; for the start, of its
 * last segment; for any other, of scheme, authority and path.
 * @param start the URI that the run starts at, if it is exactly one
 * @param keep names that stay as they are though tools act on them, as `keptNames` gives them
 */
export function stepsOf(uri: string, start: string | undefined, keep = NONE): readonly Step[] {
  const raws = rawSteps(uri, start);
  const parts = raws.length > MAX_SEGMENTS ? shortened(raws) : raws;
  return parts.map((raw, at) => ({ raw, name: safeName(raw, { top: at === 0, file: at === parts.length - 1 }, keep) }));
}

/** Returns the names that lead to a resource, decoded but not made safe: below the start, or from the scheme on. */
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

/** Ignores slashes at the end: a path with one means the same as a path without. */
const split = (path: string): readonly string[] => path.replace(/\/+$/, '').split('/');

function shortened(raws: readonly string[]): readonly string[] {
  const last = raws.at(-1) ?? '';
  const middle = raws.slice(MAX_SEGMENTS - 2, -1).join('/');
  return [...raws.slice(0, MAX_SEGMENTS - 2), `~${digest(middle, 16)}`, last];
}

/** Characters that have a special meaning in some file system, or that nobody sees. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}/\\:*?"<>|]/gu;

/** Names of devices on Windows, with or without an extension. */
const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?:\.|$)/i;

const isReserved = (name: string): boolean => RESERVED.test(name.replace(/ +(?=\.|$)/, ''));

/** Makes a name of one segment of a URI: decodes its escapes once, and escapes the characters that a name must not have. */
export function safeName(segment: string, standing: Standing, keep = NONE): string {
  const escaped = decodedText(segment).toWellFormed().replace(UNSAFE, escapedBytes);
  // `.` and `..` are escaped here, too.
  const ended = escaped.replace(/[. ]$/, escapedBytes);
  const begun = isReserved(ended) ? `_${ended}` : ended;
  const inert = inertName(begun.replace(/^ /, escapedBytes), standing, keep);
  const name = plainName(inert) === OWN_FOLDER ? `_${inert}` : inert;
  if (name === '') return '_';
  return Buffer.byteLength(name) <= MAX_PLAIN_BYTES ? name : marked(name, digest(segment, 16));
}

/** Whether a path from a manifest may be used as it is. */
export const isSafePath = (path: readonly string[], keep = NONE): boolean =>
  path.length > 0 &&
  path.every((name, at) => {
    const standing = { top: at === 0, file: at === path.length - 1 };
    const usable = isSafeName(name) && !isReserved(name) && plainName(name) !== OWN_FOLDER;
    return usable && inertName(name, standing, keep) === name;
  });

/** Whether a name is short enough, and without unsafe characters, for every file system. */
export const isSafeName = (name: string): boolean =>
  name !== '' &&
  Buffer.byteLength(name) <= MAX_NAME_BYTES &&
  name.isWellFormed() &&
  name.search(UNSAFE) === -1 &&
  !/^ |[. ]$/.test(name);

const escapedBytes = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** Puts a mark before the extension of a name: `guide~1f2e3d4c.md`. Shortens the name if it would be too long. */
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
  // Drops an escape that was cut in two.
  return `${stem.replace(/%[0-9A-F]?$/, '')}~${mark}${extension}`;
}

/** Returns the first hexadecimal digits of the SHA-256 of a text. */
export const digest = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length);
