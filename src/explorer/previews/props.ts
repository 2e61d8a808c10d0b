import type { Thing } from '../state/reading.ts';

/** Every preview gets the thing, as far as it was read. */
export interface PreviewProps {
  readonly thing: Thing;
}
