/** Loads Cedar itself, which only configurations with Cedar policies need. */
import { missingPackage } from 'vitrine/plug-in';

/** The module of Cedar. */
export type Engine = typeof import('@cedar-policy/cedar-wasm/nodejs');

/** The package to install for Cedar. A configuration with rules instead of policies does not need it. */
const PACKAGE = '@cedar-policy/cedar-wasm';

/** @throws ResourceError `invalid`, which names the package to install, where Cedar is not installed */
export async function loadEngine(): Promise<Engine> {
  try {
    return await import('@cedar-policy/cedar-wasm/nodejs');
  } catch (cause) {
    throw missingPackage('Policies in Cedar need a package', [PACKAGE], { cause });
  }
}

/** The parts of Cedar's description of a mistake that are shown. */
export interface Mistake {
  readonly message: string;
  readonly help: string | null;
  readonly sourceLocations?: readonly { readonly start: number; readonly label: string | null }[];
}

/** Describes a mistake in one line: what is wrong, what was expected, what may help. */
export function wordsOf({ message, help, sourceLocations }: Mistake): string {
  const label = sourceLocations?.[0]?.label;
  return [message, label, help]
    .filter((part) => typeof part === 'string')
    .join('; ')
    .replace(/\s+/g, ' ');
}
