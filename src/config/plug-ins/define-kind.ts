/** The interface of plug-in packages. A package adds a kind of data, which a mount chooses by the key `kind`. */
import type { Log } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { OutputOf, Schema } from '../../core/schema/schema.ts';

/** The mount that a provider is made for. */
export interface KindMount {
  /** The name of the mount. */
  readonly name: string;
  /** The folder of the configuration: relative paths in settings start from it. */
  readonly base: string;
  /** Aborted when `create` takes too long. Each later operation has a signal of its own. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A kind of data that a package adds. The package's default export is one. */
export interface ProviderKind<S extends Schema = Schema> {
  /** The word after `kind:`: a lower-case letter, then lower-case letters, digits and `-`; at most 64 characters. */
  readonly name: string;
  /**
   * Checks the settings of a mount: all its keys but `kind` and those of every mount (`prefix`, `icons`, `forms`, `skills` and
   * `index`), with references to the environment already replaced. It is a schema of Zod or another library of Standard
   * Schema, or JSON Schema 2020-12.
   */
  readonly settings: S;
  /**
   * Makes the provider of one mount, from settings that the schema has accepted. If it throws an error, only the operator sees
   * the message, as the reason why the mount cannot be opened.
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
