/** The `_meta` keys and the extensions that Vitrine reads and writes, in one place so that peers and docs can find them. */

/** In the `_meta` of a `resources/read` request: `{offset?, length?}` in bytes, the requested window. */
export const RANGE_META_KEY = 'vitrine/range';

/** In the `_meta` of contents that are a window: `{offset, length, total?}` in bytes, the window that was sent. */
export const WINDOW_META_KEY = 'vitrine/window';

/** In the `_meta` of a `resources/read` request: the wanted MIME types, or ranges such as `text/*`, the best first. */
export const ACCEPT_META_KEY = 'vitrine/accept';

/**
 * In the `_meta` of contents: their version. It differs when the contents or their metadata differ (`content-version.ts`).
 */
export const VERSION_META_KEY = 'vitrine/version';

/** In the `_meta` of a `resources/read` request: the versions of the contents that the client has, in order. */
export const IF_VERSION_META_KEY = 'vitrine/ifVersion';

/**
 * In the `_meta` of the result of a read with `vitrine/ifVersion`: `true` if those versions are current, so no contents are sent.
 */
export const NOT_MODIFIED_META_KEY = 'vitrine/notModified';

/** In the `_meta` of a resource: its formats, as `[{mimeType, size?}]`, its own first (2093-8). */
export const FORMATS_META_KEY = 'vitrine/formats';

/** In the `_meta` of a resource whose bytes contradict its name: the type that the name claims. */
export const DECLARED_MIME_TYPE_META_KEY = 'vitrine/declaredMimeType';

/** In the `_meta` of a resource: the entity tag from its own server, without quotes. */
export const ETAG_META_KEY = 'vitrine/etag';

/** In the `_meta` of a file of a git tree: `{hash, mode}`, as git writes them. */
export const GIT_META_KEY = 'vitrine/git';

/**
 * In the `_meta` of contents that are text and not UTF-8: `utf-16le` or `utf-16be`, as their byte-order mark says, or
 * `unknown-8bit`.
 */
export const CHARSET_META_KEY = 'vitrine/charset';

/** IANA's name for text in an unknown encoding. */
export const UNKNOWN_CHARSET = 'unknown-8bit';

/** In the `_meta` of contents, and of results of mounted servers: `{kind: count}`, how many secrets of each kind are masked. */
export const REDACTED_META_KEY = 'vitrine/redacted';

/** In the `_meta` of a default list or a directory read that stopped at a limit: the name of that limit. */
export const TRUNCATED_META_KEY = 'vitrine/truncatedBy';

/** In the `_meta` of a container: `false` if a walk over the whole tree skips its children, unless the walk begins at it. */
export const WALK_META_KEY = 'vitrine/walk';

/** In the `_meta` of a list or another result: the parts that are missing, as `[{mount?, reason, entry?}]`. */
export const MISSING_META_KEY = 'vitrine/missing';

/** In the `_meta` of a mounted tool's result: why it does not fit the tool's `outputSchema`. */
export const BROKEN_RESULT_META_KEY = 'vitrine/brokenResult';

/** The extension by which any server declares SEP-2093 in `capabilities.extensions` (`docs/extensions/resource-hierarchy.md`). */
export const RESOURCE_HIERARCHY_EXTENSION = 'sep-2093/resource-hierarchy';

/** Vitrine's own extension: SEP-2093, windows of contents (`vitrine/range`), and conditional reads (`vitrine/ifVersion`). */
export const SEP_2093_EXTENSION = 'vitrine/resource-metadata';

/** The extension under which `resources/directory/read` is advertised. */
export const DIRECTORY_EXTENSION = 'vitrine/resource-directories';

/** In the `_meta` of a result of the 2026 era: the server that made it. */
export const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';

/** In the `_meta` of a request of the 2026 era: the capabilities of its client. */
export const CLIENT_CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
