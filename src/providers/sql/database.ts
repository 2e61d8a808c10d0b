/** The state that all operations of this provider share: one open database. */
import type { Catalogues } from './catalogues.ts';
import type { SqlConfig } from './config.ts';
import type { Connection, Dialect } from './dialect.ts';
import type { LimitsOf } from './limits.ts';
import type { Places } from './place.ts';
import type { RowReader } from './rows.ts';
import type { Saved } from './saved-queries.ts';

export interface OpenDatabase {
  /** The name of the database. */
  readonly name: string;
  readonly dialect: Dialect;
  readonly config: SqlConfig;
  readonly connection: Connection;
  readonly limitsOf: LimitsOf;
  readonly catalogues: Catalogues;
  readonly places: Places;
  readonly reader: RowReader;
  readonly saved: ReadonlyMap<string, Saved>;
  /** Whether changes are noticed. */
  readonly watches: boolean;
}
