/** `vitrine call`: calls a tool. */
import { clientError } from '../../client/errors.ts';
import type { Data } from '../../client/link.ts';
import type { Secrets } from '../../config/secrets.ts';
import { type Definition, definitionOf, type Report, request } from './definitions.ts';
import { EXIT_FAILED, EXIT_OK } from './exit-codes.ts';
import { argumentsOf, assertComplete } from './parameters.ts';
import { printBlock } from './printing/blocks.ts';
import { jsonText } from './printing/output.ts';
import { onServer, type ServerFlags, type Session } from './reaching/connect.ts';
import { inputText } from './standard-input.ts';

export interface CallFlags extends ServerFlags {
  /** Arguments as `name=value`. */
  readonly arg?: readonly string[];
  /** All arguments as a JSON object, or `-` for standard input. */
  readonly input?: string;
}

/** Calls a tool and prints its result. Exits with `EXIT_FAILED` if the tool says that it failed. */
export const call = (server: string, name: string, flags: CallFlags, secrets: Secrets): Promise<void> =>
  onServer(server, flags, secrets, async (session) => {
    const { output } = session;
    const input = flags.input === '-' ? await inputText(process.stdin, session.signal) : flags.input;
    const tool = await definitionOf('tools', name, session);
    const given = argumentsOf(flags.arg ?? [], input, tool.inputSchema);
    assertComplete(tool, given);
    const result = await called(tool, given, session);
    const content: readonly unknown[] = Array.isArray(result.content) ? result.content : [];
    if (output.form !== 'human') await output.document(result, () => '');
    else {
      for (const block of content) await printBlock(block, output);
      if (content.length === 0 && result.structuredContent !== undefined)
        await output.line(jsonText(result.structuredContent, 2));
    }
    if (result.isError !== true) return EXIT_OK;
    output.note(`${session.label}: the tool "${name}" says that it failed`);
    return EXIT_FAILED;
  });

async function called(tool: Definition, given: Data, session: Session): Promise<Data> {
  const { output, resources, signal, timeoutMs } = session;
  const params = { name: tool.name, arguments: { ...given } };
  const onprogress = ({ progress, total, message }: Report): void =>
    output.progress(
      `${total === undefined ? progress : `${progress} of ${total}`}${message === undefined ? '' : `  ${message}`}`,
    );
  output.progress(`calling ${tool.name}`);
  // Only the SDK's `callTool` also sends arguments as headers. It drops unknown fields of the answer, so other tools do not use it.
  if (!JSON.stringify(tool.inputSchema ?? null).includes('"x-mcp-header"'))
    return request('tools/call', params, session, onprogress);
  const client = await resources.client(signal);
  type SdkTool = NonNullable<NonNullable<Parameters<typeof client.callTool>[1]>['toolDefinition']>;
  const options = { signal, timeout: timeoutMs, onprogress, resetTimeoutOnProgress: true };
  try {
    return await client.callTool(params, { ...options, toolDefinition: tool as unknown as SdkTool });
  } catch (error) {
    signal.throwIfAborted();
    throw clientError(error);
  }
}
