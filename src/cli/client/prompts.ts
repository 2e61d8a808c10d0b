/** `vitrine prompts`: lists prompts, or gets one. */
import type { Secrets } from '../../config/secrets.ts';
import { UsageError } from '../errors.ts';
import { type Definition, type DefinitionsEnd, definitionOf, definitions, request } from './definitions.ts';
import { EXIT_INCOMPLETE, EXIT_OK } from './exit-codes.ts';
import { pairsOf } from './parameters.ts';
import { printBlock } from './printing/blocks.ts';
import { type Output, safe, valueText } from './printing/output.ts';
import { onServer, type ServerFlags, type Session } from './reaching/connect.ts';

export interface PromptsFlags extends ServerFlags {
  /** `name=value`. */
  readonly arg?: readonly string[];
}

export const prompts = (
  server: string,
  name: string | undefined,
  flags: PromptsFlags,
  secrets: Secrets,
): Promise<void> =>
  onServer(server, flags, secrets, async (session) => {
    if (name !== undefined) return got(name, flags.arg ?? [], session);
    if (flags.arg !== undefined) throw new UsageError('--arg is for one prompt; name it');
    const { output } = session;
    const end: DefinitionsEnd = {};
    await output.list(definitions('prompts', session, end), (prompt) => row(prompt, output));
    return end.cut === true ? EXIT_INCOMPLETE : EXIT_OK;
  });

interface PromptArgument {
  readonly name: string;
  readonly required: boolean;
}

function argumentsIn({ arguments: given }: Definition): readonly PromptArgument[] {
  const all: readonly unknown[] = Array.isArray(given) ? given : [];
  return all.flatMap((each) => {
    const { name, required } = (each ?? {}) as { readonly name?: unknown; readonly required?: unknown };
    return typeof name === 'string' ? [{ name, required: required === true }] : [];
  });
}

function row(prompt: Definition, output: Output): string {
  const given = argumentsIn(prompt).map(({ name, required }) => `${safe(name)}${required ? '' : '?'}`);
  const about = [prompt.title, prompt.description].find((text) => typeof text === 'string' && text !== '');
  const suffix = typeof about === 'string' ? `  ${output.paint('dim', safe(about))}` : '';
  return `${output.paint('bold', safe(prompt.name))}(${given.join(', ')})${suffix}`;
}

async function got(name: string, pairs: readonly string[], session: Session): Promise<number> {
  const { output } = session;
  const given = Object.fromEntries(pairsOf(pairs));
  const prompt = await definitionOf('prompts', name, session);
  const missing = argumentsIn(prompt).filter((each) => each.required && !Object.hasOwn(given, each.name));
  if (missing.length > 0)
    throw new UsageError(
      `The prompt "${safe(name)}" needs ${missing.map((each) => `--arg ${safe(each.name)}=...`).join(' ')}`,
    );
  const result = await request('prompts/get', { name, arguments: given }, session);
  if (output.form !== 'human') {
    await output.document(result, () => '');
    return EXIT_OK;
  }
  const messages: readonly unknown[] = Array.isArray(result.messages) ? result.messages : [];
  for (const message of messages) {
    const { role, content } = (message ?? {}) as { readonly role?: unknown; readonly content?: unknown };
    await output.line(output.paint('bold', `${safe(valueText(role))}:`));
    for (const block of Array.isArray(content) ? content : [content]) await printBlock(block, output);
  }
  return EXIT_OK;
}
