/** Reads a client's answers to `inputRequired`. They cannot be trusted, so each of these functions checks what it takes. */
import { isData } from '../protocol/data.ts';
import type { ElicitationAnswer, SamplingAnswer } from '../protocol/input-required.ts';
import { type CompiledSchema, compileSchema, type OutputOf, type Schema } from './schema/schema.ts';

const compiled = new WeakMap<object, Promise<CompiledSchema>>();

/**
 * Returns what the user filled in, if the form was accepted and fits the schema; undefined if it was declined, cancelled,
 * not answered, or does not fit.
 *
 * @example
 * const form = await accepted(invocation.answers.who, z.object({ name: z.string() }));
 * if (form === undefined) return inputRequired({ who: elicitation('Who is it?', FORM) });
 */
export async function accepted<const S extends Schema>(answer: unknown, schema: S): Promise<OutputOf<S> | undefined> {
  const { action, content } = isData(answer) ? (answer as Partial<ElicitationAnswer>) : {};
  if (action !== 'accept') return undefined;
  const compiling = compiled.get(schema) ?? compileSchema(schema);
  compiled.set(schema, compiling);
  const checked = await (await compiling).check(content ?? {});
  return checked.ok ? (checked.value as OutputOf<S>) : undefined;
}

/** Whether the user was asked and said no: declined the form, or closed it. */
export function refused(answer: unknown): boolean {
  return isData(answer) && (answer.action === 'decline' || answer.action === 'cancel');
}

/** Returns the text that the client's model wrote; undefined if it wrote none. */
export function sampledText(answer: unknown): string | undefined {
  const content: unknown = isData(answer) ? (answer as Partial<SamplingAnswer>).content : undefined;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = blocks.flatMap((block) => (isData(block) && typeof block.text === 'string' ? [block.text] : []));
  return texts.length === 0 ? undefined : texts.join('\n');
}
