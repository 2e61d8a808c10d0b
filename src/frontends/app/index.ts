/** Serves the explorer as an MCP App (SEP-1865), to clients that declare that they show apps: a tool that opens it, and its document. */
import type { Context } from '../../core/context.ts';
import type { ToolDescription } from '../../protocol/content.ts';
import type { Resource } from '../../protocol/resources.ts';
import { VIEW } from './view.ts';

/** The extension that a client declares if it shows apps. */
export const UI_EXTENSION = 'io.modelcontextprotocol/ui';

export const APP_URI = 'ui://vitrine/explorer';

const APP_MIME_TYPE = 'text/html;profile=mcp-app';

/** The listed names of the tool that opens the app (`browse`), and of the resource tools that it calls. */
export interface AppTools {
  readonly browse: string;
  readonly list: string;
  readonly describe: string;
}

/** Whether the client shows apps of this type. */
export function showsApps({ client }: Context): boolean {
  const { extensions } = (client?.declared ?? {}) as { readonly extensions?: Readonly<Record<string, unknown>> };
  const { mimeTypes } = (extensions?.[UI_EXTENSION] ?? {}) as { readonly mimeTypes?: unknown };
  return Array.isArray(mimeTypes) && mimeTypes.includes(APP_MIME_TYPE);
}

/** Describes the tool that opens the explorer. A model that calls it gets the answer of `list` or `describe`. */
export const browseTool = ({ browse }: AppTools): ToolDescription => ({
  name: browse,
  title: 'Browse',
  description:
    'Shows the explorer to the person, at a directory or a resource, so that they can look around and pick something.',
  inputSchema: {
    type: 'object',
    properties: { uri: { type: 'string', description: 'Where to begin. Default: everything' } },
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  _meta: { ui: { resourceUri: APP_URI } },
});

/** The metadata of the document. A gateway requests it before it reads the document. */
export const APP_RESOURCE: Resource = {
  uri: APP_URI,
  name: 'explorer',
  title: 'Explorer',
  mimeType: APP_MIME_TYPE,
  size: Buffer.byteLength(VIEW),
  capabilities: { list: false, subscribe: false },
};

/** The contents of the document. It is part of the program and contains nothing about the served resources. */
export const APP_CONTENTS = [
  { uri: APP_URI, mimeType: APP_MIME_TYPE, text: VIEW, _meta: { ui: { prefersBorder: true } } },
];
