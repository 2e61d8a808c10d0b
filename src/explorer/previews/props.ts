import type { Thing } from '../state/reading.ts';

/** The properties of every preview: the thing, as far as it has been read. */
export interface PreviewProps {
  readonly thing: Thing;
}
