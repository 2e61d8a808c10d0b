/** The options of the alternatives layer, and their defaults. */
import { defined } from '../../core/defined.ts';

export interface AlternativesOptions {
  /** The most bytes of a resource that is converted. Default: 33,554,432. */
  readonly maxInputBytes?: number | undefined;
  /** The most bytes of a format. Default: 8,388,608. */
  readonly maxOutputBytes?: number | undefined;
  /** The most bytes of an archive's unpacked files together. Default: 67,108,864. */
  readonly maxUnpackedBytes?: number | undefined;
  /** The most bytes of memory of a process that converts. Default: 536,870,912. */
  readonly maxMemoryBytes?: number | undefined;
  /** The most milliseconds of one conversion. Default: 20,000. */
  readonly timeoutMs?: number | undefined;
  /** The most conversions at a time, each in a process of its own. Default: 2. */
  readonly maxConcurrent?: number | undefined;
  /** The most conversions that wait for their turn. Default: 64. */
  readonly maxWaiting?: number | undefined;
  /** The most bytes of formats that are kept. Default: 33,554,432. */
  readonly cacheBytes?: number | undefined;
  /** The most bytes of an original that a read gives beside its text if no format is requested. Default: 1,048,576. */
  readonly originalBytes?: number | undefined;
  /** MIME types, or ranges of them, that are not converted, such as `text/html`. Default: none. */
  readonly except?: readonly string[] | undefined;
}

export type AlternativesLimits = Readonly<{ [K in keyof AlternativesOptions]-?: NonNullable<AlternativesOptions[K]> }>;

const MIB = 1024 * 1024;

export const DEFAULT_CONVERSION_LIMITS: AlternativesLimits = {
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

/** The options, with the defaults for those that are left out. */
export function withDefaults(options: AlternativesOptions): AlternativesLimits {
  return { ...DEFAULT_CONVERSION_LIMITS, ...defined(options) };
}
