/** `vitrine tools`: lists tools, or describes one. */
import type { Secrets } from '../../config/secrets.ts';
import { type Definition, type DefinitionsEnd, definitionOf, definitions } from './definitions.ts';
import { EXIT_INCOMPLETE, EXIT_OK } from './exit-codes.ts';
import { parametersOf } from './parameters.ts';
import { jsonText, type Output, safe, safeLines } from './printing/output.ts';
import { onServer, type ServerFlags } from './reaching/connect.ts';

export const tools = (server: string, name: string | undefined, flags: ServerFlags, secrets: Secrets): Promise<void> =>
  onServer(server, flags, secrets, async (session) => {
    const { output } = session;
    if (name === undefined) {
      const end: DefinitionsEnd = {};
      await output.list(definitions('tools', session, end), (tool) => row(tool, output));
      return end.cut === true ? EXIT_INCOMPLETE : EXIT_OK;
    }
    const tool = await definitionOf('tools', name, session);
    await output.document(tool, () => whole(tool, output));
    return EXIT_OK;
  });

/** Writes a row such as `read(uri, format?)  Reads a resource`. */
function row(tool: Definition, output: Output): string {
  const parameters = parametersOf(tool.inputSchema).map(({ name, required }) => `${safe(name)}${required ? '' : '?'}`);
  const [first = ''] = firstLine(tool);
  const about = first === '' ? '' : `  ${output.paint('dim', first)}`;
  return `${output.paint('bold', safe(tool.name))}(${parameters.join(', ')})${about}`;
}

/** The most characters of the description in a list. */
const MAX_ABOUT = 100;

function firstLine({ description, title }: Definition): readonly string[] {
  const text = typeof description === 'string' && description !== '' ? description : title;
  const [line = ''] = safeLines(typeof text === 'string' ? text : '')
    .trim()
    .split('\n');
  return [line.length > MAX_ABOUT ? `${line.slice(0, MAX_ABOUT - 1).toWellFormed()}…` : line];
}

function whole(tool: Definition, output: Output): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const hints = Object.entries((annotations ?? {}) as object)
    .filter(([, value]) => typeof value === 'boolean')
    .map(([key, value]) => `${safe(key)}: ${value ? 'yes' : 'no'}`);
  const parameters = parametersOf(inputSchema).map(({ name: each, type, required, description: about }) => {
    const suffix = about === undefined ? '' : `\n      ${safe(about)}`;
    return `  ${output.paint('bold', safe(each))} ${output.paint('dim', `${safe(type)}${required ? '' : ', optional'}`)}${suffix}`;
  });
  const parts = [
    `${output.paint('bold', safe(name))}${typeof title === 'string' ? `  ${safe(title)}` : ''}`,
    typeof description === 'string' ? safeLines(description).trimEnd() : '',
    hints.length === 0 ? '' : `The server says of it: ${hints.join(', ')}`,
    parameters.length === 0 ? '' : `Arguments:\n${parameters.join('\n')}`,
    inputSchema === undefined ? '' : `Input schema:\n${jsonText(inputSchema, 2)}`,
    outputSchema === undefined ? '' : `Output schema:\n${jsonText(outputSchema, 2)}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}
