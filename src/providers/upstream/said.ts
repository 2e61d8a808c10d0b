/**
 * Cleans the texts that another server sends beside its results: standard error, log messages, errors and progress. It
 * limits their length, covers secrets that Vitrine gave to the server, and covers texts that look like secrets. These
 * texts reach logs, clients and people who did not ask for them.
 */

import { PeerError } from '../../core/errors.ts';
import { cleanText, stripUnseen } from '../../core/text/clean-text.ts';
import { changeTexts } from '../../core/text/scrub.ts';
import { coverSecrets, coverSecretsIn } from '../../core/text/secret-forms.ts';
import { type Data, isData } from '../../protocol/data.ts';
import { extentOf } from './border/extent.ts';
import { isStdio, type UpstreamTarget } from './options.ts';

/** The most characters of one text. */
const MAX_LENGTH = 8_192;

/** The most characters and levels of the data of an error or a log message. Data with more is left out as a whole. */
const MAX_DATA_CHARACTERS = 64 * 1024;
const MAX_DATA_DEPTH = 32;

/** Shorter values are not treated as secrets: they are words such as `1` and `true`. */
const MIN_SECRET_LENGTH = 6;

export interface Said {
  text(text: string): string;
  /** Cleans the data of a log message. */
  data(data: unknown): unknown;
  /** Cleans unknown fields of a notification; undefined where there are none, or too many. */
  others(fields: Data): Data | undefined;
  /** Returns an error of the server with clean texts; returns any other error unchanged. */
  fault(error: unknown): unknown;
}

export function createSaid(target: UpstreamTarget): Said {
  const given = isStdio(target)
    ? Object.values(target.env ?? {})
    : Object.values(target.headers ?? {}).flatMap(partsOf);
  const secrets = given.filter((value) => value.length >= MIN_SECRET_LENGTH).sort((a, b) => b.length - a.length);
  const hide = (text: string): string => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text);
  const text = (said: string): string => coverSecrets(hide(cleanText(said, MAX_LENGTH)));
  const bounded = (data: unknown): boolean => {
    const { characters, depth } = extentOf(data, MAX_DATA_CHARACTERS, MAX_DATA_DEPTH);
    return characters <= MAX_DATA_CHARACTERS && depth <= MAX_DATA_DEPTH;
  };
  return {
    text,
    data: (data) => (bounded(data) ? coverSecretsIn(data, text) : '…'),
    others({ _meta, ...fields }) {
      const meta = isData(_meta) && Object.keys(_meta).length > 0 ? { _meta } : {};
      const all = { ...fields, ...meta };
      return Object.keys(all).length > 0 && bounded(all) ? (coverSecretsIn(all, text) as Data) : undefined;
    },
    fault(error) {
      if (!(error instanceof PeerError)) return error;
      const { code, message, data } = error.wire;
      const kept =
        data !== undefined && bounded(data) ? changeTexts(data, (each) => hide(stripUnseen(each))) : undefined;
      const wire = { code, message: text(message), ...(kept !== undefined && { data: kept as typeof data & object }) };
      return new PeerError(wire, error.uri, error.cause);
    },
  };
}

/** Returns a header's value, and the value without its scheme. */
const partsOf = (value: string): readonly string[] => [value, value.replace(/^\S+\s+/, '')];
