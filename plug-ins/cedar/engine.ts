/** Cedar itself, which is loaded when somebody has policies for it. */
import { missingPackage } from 'vitrine/plug-in';

export type Engine = typeof import('@cedar-policy/cedar-wasm/nodejs');

/** The package to install for Cedar: those who have rules do not need it. */
const PACKAGE = '@cedar-policy/cedar-wasm';

/** @throws ResourceError `invalid` that says what to install */
export async function loadEngine(): Promise<Engine> {
  try {
    return await import('@cedar-policy/cedar-wasm/nodejs');
  } catch (cause) {
    throw missingPackage('For policies in Cedar, install what decides by them', [PACKAGE], { cause });
  }
}

/** Of Cedar's description of a mistake, what is shown. */
export interface Mistake {
  readonly message: string;
  readonly help: string | null;
  readonly sourceLocations?: readonly { readonly start: number; readonly label: string | null }[];
}

/** One line: what is wrong, what was expected, what may help. */
export function wordsOf({ message, help, sourceLocations }: Mistake): string {
  const label = sourceLocations?.[0]?.label;
  return [message, label, help]
    .filter((each) => typeof each === 'string')
    .join('; ')
    .replace(/\s+/g, ' ');
}
