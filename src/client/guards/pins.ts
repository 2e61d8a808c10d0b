/** Approved definitions of tools, and their store (SEC-TOOL-4). */
import type { ToolPin } from '../../core/fingerprint.ts';

/** The store of pins. The default `Map` lasts as long as the process; a host may use a lasting store. */
export interface PinStore {
  get(tool: string): ToolPin | undefined | Promise<ToolPin | undefined>;
  set(tool: string, pin: ToolPin): unknown;
}
