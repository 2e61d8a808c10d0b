/**
 * Content safety: a host checks and cleans everything that a server sent before it shows, opens or keeps it (SEC-RES-6,
 * SEC-RES-7, 973-4). Works in Node, browsers and workers.
 */
export { chooseIcon, type IconWish } from './choose-icon.ts';
export {
  type CheckedContents,
  type CheckOptions,
  type ContentProblem,
  checkContents,
  DEFAULT_MAX_BYTES,
  type UncheckedContents,
} from './contents.ts';
export type { DomWindow } from './dom.ts';
export { type FetchIconOptions, fetchIcon } from './fetch-icon.ts';
export {
  type Rendering,
  type RenderingForm,
  type RenderingOptions,
  type RenderingReason,
  renderingOf,
} from './rendering.ts';
export { SANDBOX_POLICY, type SandboxFrame, sandboxFrame } from './sandbox.ts';
export {
  createSanitizer,
  type Sanitizer,
  type SanitizerOptions,
  svgImageSource,
  toSafeHtml,
  toSafeSvg,
} from './sanitizer.ts';
export { forTerminal, hasHiddenText, type TerminalOptions } from './terminal.ts';
export {
  type Trust,
  type TrustedIcon,
  type TrustOptions,
  type TrustRefusal,
  trustedIcons,
  trustIcon,
  trustWebsite,
} from './trust.ts';
