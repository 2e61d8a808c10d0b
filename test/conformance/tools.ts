/** Tools that answer by themselves: every kind of content, failure, logging, progress, schemas. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  audioBlock,
  defineTool,
  imageBlock,
  ResourceError,
  resourceBlock,
  type Tool,
  type ToolOutcome,
  textBlock,
} from 'vitrine';
import { RED_PIXEL_PNG, SILENCE_WAV } from './samples.ts';

const NO_ARGUMENTS = { type: 'object', additionalProperties: false } as const;

/** How long the tools that tell what they are doing take for a step, in milliseconds. */
const STEP_MS = 50;

const simple = (name: string, description: string, run: () => ToolOutcome): Tool =>
  defineTool({ name, description, inputSchema: NO_ARGUMENTS, run });

const contents: readonly Tool[] = [
  simple('test_simple_text', 'Answers with text', () => 'This is a simple text response for testing.'),
  simple('test_image_content', 'Answers with an image', () => ({ content: [imageBlock(RED_PIXEL_PNG, 'image/png')] })),
  simple('test_audio_content', 'Answers with a sound', () => ({ content: [audioBlock(SILENCE_WAV, 'audio/wav')] })),
  simple('test_embedded_resource', 'Answers with a resource', () => ({
    content: [
      resourceBlock({
        uri: 'test://embedded-resource',
        mimeType: 'text/plain',
        text: 'This is an embedded resource content.',
      }),
    ],
  })),
  simple('test_multiple_content_types', 'Answers with text, an image and a resource', () => ({
    content: [
      textBlock('Multiple content types test:'),
      imageBlock(RED_PIXEL_PNG, 'image/png'),
      resourceBlock({
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        text: JSON.stringify({ test: 'data', value: 123 }),
      }),
    ],
  })),
  simple('test_error_handling', 'Fails', () => {
    throw new ResourceError('unavailable', 'This tool intentionally returns an error for testing');
  }),
  simple('test_streaming_elicitation', 'Answers without asking for anything', () => 'Nothing was asked'),
];

const telling: readonly Tool[] = [
  defineTool({
    name: 'test_tool_with_logging',
    description: 'Logs what it does',
    inputSchema: NO_ARGUMENTS,
    async run(_args, invocation) {
      for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        invocation.notify('info', message);
        await pause(STEP_MS, undefined, { signal: invocation.signal });
      }
      return 'Three messages were logged';
    },
  }),
  defineTool({
    name: 'test_logging_tool',
    description: 'Logs once',
    inputSchema: NO_ARGUMENTS,
    run(_args, invocation) {
      invocation.notify('info', 'test_logging_tool was called');
      return 'One message was logged';
    },
  }),
  defineTool({
    name: 'test_tool_with_progress',
    description: 'Reports its progress',
    inputSchema: NO_ARGUMENTS,
    async run(_args, invocation) {
      for (const done of [0, 50, 100]) {
        invocation.progress(done, 100, `${done} of 100`);
        await pause(STEP_MS, undefined, { signal: invocation.signal });
      }
      return 'All is done';
    },
  }),
  defineTool({
    name: 'test_reconnection',
    description: 'Ends the connection, and answers when the client comes back',
    inputSchema: NO_ARGUMENTS,
    async run(_args, invocation) {
      invocation.hangUp();
      await pause(2 * STEP_MS, undefined, { signal: invocation.signal });
      return 'The client came back for this';
    },
  }),
];

const schemas: readonly Tool[] = [
  defineTool({
    name: 'test_x_mcp_header',
    description: 'Has an argument that HTTP clients repeat in a header',
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } },
    },
    run: ({ region }) => `region: ${region}`,
  }),
  defineTool({
    name: 'json_schema_2020_12_tool',
    description: 'Has a schema that uses more of JSON Schema 2020-12',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: (args) => JSON.stringify(args),
  }),
];

export const tools: readonly Tool[] = [...contents, ...telling, ...schemas];
