/** Checks tool calls and their results by the protocol's schemas, and keeps every field of a result. */

import { specTypeSchemas } from '@modelcontextprotocol/server';
import { type Data, isData } from '../../protocol/data.ts';
import type { Era } from '../../protocol/era.ts';
import { INVALID_PARAMS } from '../../protocol/error-codes.ts';
import type { RequestMessage } from '../messages.ts';
import { RequestRefused } from './methods.ts';

/** Returns the problem of a call; undefined where there is none. */
export function callRequestProblem({ method, params = {} }: RequestMessage, era: Era): string | undefined {
  const { name, arguments: given, task } = params;
  if (typeof name === 'string' && (given === undefined || isData(given)) && (task === undefined || era === 'modern'))
    return undefined;
  return problemIn(specTypeSchemas.CallToolRequest, { method, params });
}

const FIELDS: ReadonlySet<string> = new Set(['content', 'structuredContent', 'isError', '_meta']);

/** Whether the content has only texts, which need no schema. */
function isPlain(result: Data): boolean {
  for (const key of Object.keys(result)) if (!FIELDS.has(key)) return false;
  const { content, structuredContent, isError, _meta } = result;
  if (structuredContent !== undefined && !isData(structuredContent)) return false;
  if (isError !== undefined && typeof isError !== 'boolean') return false;
  return (_meta === undefined || isData(_meta)) && Array.isArray(content) && content.every(isPlainText);
}

const isPlainText = (block: unknown): boolean =>
  isData(block) && block.type === 'text' && typeof block.text === 'string' && Object.keys(block).length === 2;

/** The block types of the schema. */
const KINDS: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** Whether a block has another type, which clients ignore if they do not know it. */
const isOfOthers = (block: unknown): boolean =>
  isData(block) && typeof block.type === 'string' && block.type !== '' && !KINDS.has(block.type);

/** Fields of other results, which must not pass for a tool's result without content. */
const OTHERS = ['task', 'inputRequests', 'requestState'];

/**
 * Returns the result with all its fields; for 2025, structured content that is no object is wrapped in one. The schema would
 * remove unknown fields of embedded resources and links: their names, sizes and annotations (2093-1, 2093-9, CB-4).
 * @throws RequestRefused for an invalid result
 */
export function checkedCallResult(result: object, era: Era): object {
  const given = result as Data;
  if (isPlain(given)) return result;
  const whole = given.content === undefined && !OTHERS.some((key) => key in given) ? { ...given, content: [] } : given;
  const { content } = whole;
  const known = Array.isArray(content) ? { ...whole, content: content.filter((block) => !isOfOthers(block)) } : whole;
  const problem = problemIn(specTypeSchemas.CallToolResult, known);
  if (problem !== undefined)
    throw new RequestRefused({ code: INVALID_PARAMS, message: `Invalid tools/call result: ${problem}` });
  const { structuredContent } = given;
  // Up to 2025-11-25 structured content must be an object, as the tool's schema promises (SEP-2106).
  if (era === 'modern' || structuredContent === undefined || isData(structuredContent)) return result;
  return { ...result, structuredContent: { result: structuredContent } };
}

type Schema = (typeof specTypeSchemas)['CallToolRequest'] | (typeof specTypeSchemas)['CallToolResult'];

function problemIn(schema: Schema, value: unknown): string | undefined {
  const outcome = schema['~standard'].validate(value);
  if (outcome instanceof Promise || outcome.issues === undefined) return undefined;
  return JSON.stringify(outcome.issues, undefined, 2);
}
