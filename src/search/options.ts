import type { Log } from '../core/context.ts';
import type { EmbeddingOptions } from './embeddings.ts';

export interface IndexOptions {
  /** The folder of its files, made for this user only. One server has it at a time. Needed unless there is a `url`. */
  readonly folder?: string | undefined;
  /** `postgres://...` of a database instead of files. Servers share it: one of them follows changes, and all answer. */
  readonly url?: string | undefined;
  /** The schema of that database, which only the index uses. Default: `vitrine_index`. */
  readonly schema?: string | undefined;
  /** The most bytes of the database; texts without room are left out, and counted. Default: 1 GiB. */
  readonly maxBytes?: number | undefined;
  /** Whether one form of an English word finds the others. Default: `english`. */
  readonly stemming?: 'english' | 'off' | undefined;
  /** Whether é is found by e. Default: `fold`. */
  readonly diacritics?: 'fold' | 'keep' | undefined;
  /** The least seconds between two looks at everything, while some resources do not report their changes. Default: 60. */
  readonly rescanSeconds?: number | undefined;
  /** Whether the index has mounts that do not say whether they belong in it. Default: `true`. */
  readonly everything?: boolean | undefined;
  /** Also finds by meaning, for which redacted texts and questions are sent to this server. Default: none. */
  readonly embeddings?: EmbeddingOptions | undefined;
  readonly log?: Log | undefined;
}

export const DEFAULT_INDEX_BYTES = 1024 ** 3;
