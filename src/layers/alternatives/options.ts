/** The options of formats that are made, and their defaults. */

export interface AlternativesOptions {
  /** Bytes of a resource that is converted. Default: 33,554,432. */
  readonly maxInputBytes?: number | undefined;
  /** Bytes of a format. Default: 8,388,608. */
  readonly maxOutputBytes?: number | undefined;
  /** Bytes of an archive's files, as they are unpacked. Default: 67,108,864. */
  readonly maxUnpackedBytes?: number | undefined;
  /** Bytes of memory of a process that converts. Default: 536,870,912. */
  readonly maxMemoryBytes?: number | undefined;
  /** For one conversion, in milliseconds. Default: 20,000. */
  readonly timeoutMs?: number | undefined;
  /** Conversions at a time, each in a process of its own. Default: 2. */
  readonly maxConcurrent?: number | undefined;
  /** Conversions that wait for their turn. Default: 64. */
  readonly maxWaiting?: number | undefined;
  /** Bytes of formats that are kept. Default: 33,554,432. */
  readonly cacheBytes?: number | undefined;
  /** Bytes up to which a read gives the original beside its text, where nobody says what is wanted. Default: 1,048,576. */
  readonly originalBytes?: number | undefined;
  /** MIME types, or ranges of them, that are not converted, as `text/html`. Default: none. */
  readonly except?: readonly string[] | undefined;
}

export type AlternativesLimits = Readonly<{ [K in keyof AlternativesOptions]-?: NonNullable<AlternativesOptions[K]> }>;

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: AlternativesLimits = {
  maxInputBytes: 32 * MIB,
  maxOutputBytes: 8 * MIB,
  maxUnpackedBytes: 64 * MIB,
  maxMemoryBytes: 512 * MIB,
  timeoutMs: 20_000,
  maxConcurrent: 2,
  maxWaiting: 64,
  cacheBytes: 32 * MIB,
  originalBytes: MIB,
  except: [],
};

/** The limits that hold: what is said, and the defaults where nothing is. */
export function limitsOf(options: AlternativesOptions): AlternativesLimits {
  const said = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(said) };
}
