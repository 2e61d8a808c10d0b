/** What the package exports, by name: an export that came or went by accident shows here. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import * as vitrine from '../../src/index.ts';

const VALUES: readonly string[] = [
  'ANONYMOUS',
  'DIRECTORY_MIME_TYPE',
  'ResourceError',
  'SILENT',
  'VERSION',
  'accepted',
  'applyLayers',
  'audioBlock',
  'bytesOf',
  'createContext',
  'createEndpoint',
  'createVitrine',
  'definePrompt',
  'defineProvider',
  'defineTool',
  'elicitation',
  'encodeSegment',
  'imageBlock',
  'inputRequired',
  'invalid',
  'linkBlock',
  'mountTree',
  'notFound',
  'notListable',
  'parseTreeUri',
  'refused',
  'resourceBlock',
  'roots',
  'rootsIn',
  'sampledText',
  'sampling',
  'schemeOf',
  'serveHttp',
  'serveStdio',
  'splitUri',
  'textBlock',
  'textBytes',
  'treeUri',
  'wrapProvider',
];

/** Interfaces and types, and what is exported as a type only. */
const TYPES: readonly string[] = [
  'Annotations',
  'AudioContent',
  'BinaryData',
  'BlobResourceContents',
  'BlockExtras',
  'BodyContent',
  'BodyWindow',
  'ByteRange',
  'CacheHint',
  'CallToolResult',
  'ChangeEvent',
  'ChangeHub',
  'ClientFeatures',
  'CompleteVariable',
  'CompletionRequest',
  'CompletionValues',
  'ContentBlock',
  'Context',
  'DefinedContent',
  'DefinedFacts',
  'DefinedPage',
  'DefinedResource',
  'DefinedTemplate',
  'DefinedVariables',
  'ElicitationAnswer',
  'EmbeddedContents',
  'EmbeddedResource',
  'GetPromptResult',
  'HttpEndpoint',
  'HttpLimits',
  'HttpOptions',
  'HttpServing',
  'Icon',
  'ImageContent',
  'InputRequest',
  'InputRequired',
  'Invocation',
  'JsonSchema',
  'Layer',
  'Log',
  'LoggingLevel',
  'Mount',
  'OutputOf',
  'Page',
  'Principal',
  'Prompt',
  'PromptArgument',
  'PromptDescription',
  'PromptFolder',
  'PromptMessage',
  'PromptSource',
  'ProviderDefinition',
  'ProviderFeatures',
  'ReadOptions',
  'Resource',
  'ResourceBody',
  'ResourceCapabilities',
  'ResourceContents',
  'ResourceErrorCode',
  'ResourceLimits',
  'ResourceLink',
  'ResourcePage',
  'ResourceProvider',
  'ResourceTemplate',
  'ResourceToolOptions',
  'ResumptionOptions',
  'SamplingAnswer',
  'Schema',
  'SearchMatch',
  'SearchQuery',
  'ServeStdioOptions',
  'ServerIdentity',
  'StandardSchema',
  'StdioServing',
  'TellChange',
  'TemplatePage',
  'TextContent',
  'TextResourceContents',
  'Tool',
  'ToolAnnotations',
  'ToolDefinition',
  'ToolDescription',
  'ToolOutcome',
  'Vitrine',
  'VitrineOptions',
];

it('exports these values and no others', () => {
  expect(Object.keys(vitrine).sort()).toEqual(VALUES);
});

it('exports these types and no others', () => {
  const path = fileURLToPath(new URL('../../src/index.ts', import.meta.url));
  const program = ts.createProgram([path], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    allowImportingTsExtensions: true,
    noEmit: true,
    noResolve: false,
    types: [],
    skipLibCheck: true,
  });
  const source = program.getSourceFile(path);
  const module = source && program.getTypeChecker().getSymbolAtLocation(source);
  const names =
    module === undefined
      ? []
      : program
          .getTypeChecker()
          .getExportsOfModule(module)
          .map(({ name }) => name);
  expect(names.filter((name) => !VALUES.includes(name)).sort()).toEqual(TYPES);
});
