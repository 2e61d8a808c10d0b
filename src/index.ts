/** Vitrine as a library: the engine, its interface, and the ways to serve it. */
export type { BodyContent, BodyWindow, ResourceBody } from './core/body.ts';
export { bytesOf, textBytes } from './core/body.ts';
export type { ChangeHub } from './core/change-hub.ts';
export { ANONYMOUS, type Context, createContext, type Log, type Principal, SILENT } from './core/context.ts';
export { invalid, notFound, notListable, ResourceError, type ResourceErrorCode } from './core/errors.ts';
export { applyLayers, type Layer, wrapProvider } from './core/layer.ts';
export { type Mount, mountTree } from './core/mounts.ts';
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
export { encodeSegment, parseTreeUri, schemeOf, splitUri, treeUri } from './core/uri.ts';
export type * from './protocol/resources.ts';
export { createEndpoint, type HttpEndpoint, type HttpOptions, type HttpServing, serveHttp } from './serving/http.ts';
export { type ServeStdioOptions, type StdioServing, serveStdio } from './serving/stdio.ts';
export { createVitrine, type ServerIdentity, VERSION, type Vitrine, type VitrineOptions } from './vitrine.ts';
