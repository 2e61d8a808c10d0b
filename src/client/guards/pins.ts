/** Definitions of tools as they were approved, and where they are kept (SEC-TOOL-4). */
import type { ToolPin } from '../../core/fingerprint.ts';

/** The store of pins: a `Map` by default, for as long as the process; anything that lasts for a host. */
export interface PinStore {
  get(tool: string): ToolPin | undefined | Promise<ToolPin | undefined>;
  set(tool: string, pin: ToolPin): unknown;
}
