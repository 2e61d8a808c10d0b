/** Vitrine as a library: the engine, its parts, and the ways to serve it. */

export type { AccessArea, AccessDecision, AccessPolicy, AccessRequest } from './core/access.ts';
export type { Admission, AskedFor, Lasting } from './core/admission.ts';
export { type AgainMethods, createOrigins, markRepeatable, type Origins, withAgain } from './core/again.ts';
export { accepted, refused, sampledText } from './core/answers.ts';
export { rootsIn } from './core/asking/needed.ts';
export type { BodyContent, BodyWindow, ResourceBody } from './core/body.ts';
export { bytesOf, textBytes } from './core/body.ts';
export type { Bus, BusListener, BusMemory, BusState, Room, Share, SharedRate } from './core/bus.ts';
export type {
  RedisAddress,
  RedisClusterAddress,
  RedisSentinelAddress,
  RedisServerAddress,
} from './core/bus-address.ts';
export type { ChangeHub } from './core/change-hub.ts';
export {
  audioBlock,
  type BinaryData,
  type BlockExtras,
  type EmbeddedContents,
  imageBlock,
  linkBlock,
  resourceBlock,
  textBlock,
} from './core/content-blocks.ts';
export { sameBytes, versioned, versionFrom, versionOf } from './core/content-version.ts';
export { ANONYMOUS, type Context, createContext, type Log, type Principal, SILENT } from './core/context.ts';
export type { AccessEffect, AccessOperation } from './core/decided.ts';
export {
  type CompleteVariable,
  type DefinedContent,
  type DefinedFacts,
  type DefinedPage,
  type DefinedResource,
  type DefinedTemplate,
  type DefinedVariables,
  defineProvider,
  type ProviderDefinition,
  type TellChange,
} from './core/define-provider.ts';
export { invalid, notFound, notListable, ResourceError, type ResourceErrorCode } from './core/errors.ts';
export type { ClientFeatures, Invocation, LoggingLevel } from './core/invocation.ts';
export type { Keys } from './core/keys.ts';
export { applyLayers, type Layer, wrapProvider } from './core/layer.ts';
export { mapEntries } from './core/lists/entries.ts';
export type { Mount } from './core/mounts/mount.ts';
export { mountTree } from './core/mounts.ts';
export type { Passage } from './core/passage.ts';
export { definePrompt, type Prompt, type PromptFolder, type PromptSource } from './core/prompt.ts';
export type {
  ByteRange,
  ChangeEvent,
  CompletionRequest,
  CompletionValues,
  Page,
  ProviderFeatures,
  ReadOptions,
  ResourcePage,
  ResourceProvider,
  SearchMatch,
  SearchQuery,
  TemplatePage,
} from './core/provider.ts';
export type {
  IndexContext,
  IndexFigures,
  IndexState,
  RankedIndex,
  RankedMatch,
  RankedQuery,
  RankedSearch,
} from './core/ranked.ts';
export type { JsonSchema, OutputOf, Schema, StandardSchema } from './core/schema/schema.ts';
export type { AnswersOptions } from './core/shared-answers/open.ts';
export type { Telemetry } from './core/telemetry.ts';
export { defineTool, type Tool, type ToolDefinition, type ToolOutcome } from './core/tool.ts';
export { encodeSegment, parseTreeUri, schemeOf, splitUri, treeUri } from './core/uri.ts';
export type { ResourceToolOptions } from './frontends/resource-tools/setup.ts';
export type { ResourceLimits } from './frontends/resources/options.ts';
export type { AccessOptions, AccessRule, AccessRules, Who } from './layers/access/index.ts';
export { rulesPolicy } from './layers/access/index.ts';
export type { AuditOptions } from './layers/audit/index.ts';
export type { UsageLimits } from './layers/limits/index.ts';
export type { Rate, RateOptions } from './layers/limits/rates.ts';
export type { RedactOptions } from './layers/redact/index.ts';
export type {
  AudioContent,
  CallToolResult,
  ContentBlock,
  EmbeddedResource,
  GetPromptResult,
  ImageContent,
  PromptArgument,
  PromptDescription,
  PromptMessage,
  ResourceLink,
  TextContent,
  ToolAnnotations,
  ToolDescription,
} from './protocol/content.ts';
export {
  type ElicitationAnswer,
  elicitation,
  type InputRequest,
  type InputRequired,
  inputRequired,
  roots,
  type SamplingAnswer,
  sampling,
} from './protocol/input-required.ts';
export type * from './protocol/resources.ts';
export { DIRECTORY_MIME_TYPE, NAMES } from './protocol/resources.ts';
export type {
  AuthOptions,
  DpopOptions,
  Introspection,
  SigningAlgorithm,
  StaticToken,
  TokenIssuer,
} from './serving/auth/options.ts';
export type { SignInOptions } from './serving/auth/sign-in.ts';
export { type RedisBusOptions, redisBus } from './serving/bus/redis/index.ts';
export type { ConnectionLimits } from './serving/http/connection-limits.ts';
export {
  createEndpoint,
  type HttpEndpoint,
  type HttpLimits,
  type HttpOptions,
  type HttpServing,
  serveHttp,
} from './serving/http/index.ts';
export type { TlsOptions } from './serving/http/tls.ts';
export type { ResumptionOptions } from './serving/sessions/resumption.ts';
export { type ServeStdioOptions, type StdioServing, serveStdio } from './serving/stdio/index.ts';
export {
  type AskOptions,
  createVitrine,
  type MountSettings,
  type NamedMounts,
  type ServerIdentity,
  VERSION,
  type Vitrine,
  type VitrineOptions,
} from './vitrine.ts';
