/** The interface of plug-in packages: a kind of data that mounts of a configuration name with `kind`. */
import type { Log } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { OutputOf, Schema } from '../../core/schema/schema.ts';

/** The mount that a provider is made for. */
export interface KindMount {
  /** The name of the mount. */
  readonly name: string;
  /** The folder of the configuration: relative paths in settings start from it. */
  readonly base: string;
  /** Aborted when the provider has taken too long to come; what it is asked later has a signal of its own. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A kind of data that a package adds. The package's default export is one. */
export interface ProviderKind<S extends Schema = Schema> {
  /** The word after `kind:`. It begins with a letter and goes on with letters, digits and `-`; all lower case. */
  readonly name: string;
  /**
   * Checks what a mount says beside `kind`, `prefix`, `icons` and `forms`, where references to the environment are replaced
   * already: a schema of Zod or another library of Standard Schema, or JSON Schema 2020-12.
   */
  readonly settings: S;
  /**
   * Makes the provider of one mount, from settings that the schema has accepted. What it throws is shown to the operator
   * only, as the reason why the mount cannot be opened.
   */
  create(settings: OutputOf<S>, mount: KindMount): ResourceProvider | Promise<ResourceProvider>;
}

/**
 * Types a kind by the schema of its settings.
 *
 * @example
 * export default defineKind({
 *   name: 'notes',
 *   settings: z.strictObject({ folder: z.string() }),
 *   create: ({ folder }, { name, base }) => notesProvider({ name, path: resolve(base, folder) }),
 * });
 */
export const defineKind = <S extends Schema>(kind: ProviderKind<S>): ProviderKind<S> => kind;
