/** Requests for tests in which the server asks the client. */
import { z } from 'zod';
import type { CallToolResult } from '../../src/protocol/content.ts';
import type { InputRequired } from '../../src/protocol/input-required.ts';
import type { ReadAnswer } from './answers.ts';
import { type Connected, TRANSPORTS } from './harness.ts';

/** Both transports, for tests of one era. */
export const OVER = TRANSPORTS.map((transport) => ({ transport }));

export const text = async (on: Connected, uri: string): Promise<string | undefined> =>
  (await on.request<ReadAnswer & Record<string, unknown>>('resources/read', { uri })).contents[0]?.text;

export const call = (on: Connected, name: string, args: Record<string, unknown>): Promise<CallToolResult> =>
  on.request<CallToolResult & Record<string, unknown>>('tools/call', { name, arguments: args });

export const said = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');

export const loose = z.looseObject({});

/** Sends one raw request. Gives the result or the questions. */
export const round = async (
  on: Connected,
  method: string,
  params: Record<string, unknown>,
): Promise<Partial<InputRequired>> =>
  (await on.client.request({ method, params }, loose, { allowInputRequired: true })) as Partial<InputRequired>;
