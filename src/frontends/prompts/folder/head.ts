/** The head of a prompt's file: YAML between two lines of `---`, and the body that follows it. */
import type { Document } from 'yaml';
import { z } from 'zod';
import { isIconAddress, isImageType } from '../../../core/icons.ts';
import type { Icon } from '../../../protocol/resources.ts';
import { PromptFileError } from './fault.ts';

/** An argument as a file declares it. */
export interface DeclaredArgument {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  /** Suggestions; other values are taken too. */
  readonly values?: readonly string[] | undefined;
}

export interface PromptHead {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  readonly arguments: readonly DeclaredArgument[];
}

export interface PromptSections {
  readonly head: PromptHead;
  readonly body: string;
  /** Lines of the file before the body. */
  readonly before: number;
}

const line = z.string().regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'has control characters in it');
const words = z.string().max(4_096);

const iconSchema = z.strictObject({
  src: z.string().refine(isIconAddress, 'is an https: or http: URL without user, or an image in a data: URI'),
  mimeType: z.string().refine(isImageType, 'is the type of an image, such as image/png').optional(),
  sizes: z.union([z.array(z.string()), z.string().transform((sizes) => sizes.split(/\s+/).filter(Boolean))]).optional(),
  theme: z.enum(['light', 'dark']).optional(),
});

const argumentSchema = z.strictObject({
  // A name is a variable of URI templates too (RFC 6570 section 2.3).
  name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'has letters, digits and "_", and begins with no digit'),
  title: line.max(256).optional(),
  description: words.optional(),
  required: z.boolean().optional(),
  values: z.array(line.max(1_024)).max(1_000).optional(),
});

const headSchema = z.strictObject({
  name: line.min(1).max(128).optional(),
  title: line.max(256).optional(),
  description: words.optional(),
  arguments: z
    .array(argumentSchema)
    .max(50)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'has a name twice')
    .default([]),
  icons: z.array(iconSchema).max(16).optional(),
});

const FENCE = '---';

/** Characters of a head, and references to other places of it. What is parsed at once keeps others waiting. */
export const MAX_HEAD = 16 * 1024;
const MAX_ALIASES = 100;

/**
 * Splits a file and checks its head; a file without one is all body.
 * @throws PromptFileError
 */
export async function splitPrompt(file: string): Promise<PromptSections> {
  const lines = file.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  if (lines[0]?.trimEnd() !== FENCE) return { head: { arguments: [] }, body: lines.join('\n'), before: 0 };
  const end = lines.findIndex((text, index) => index > 0 && text.trimEnd() === FENCE);
  if (end === -1) throw new PromptFileError(`the front matter has no end: a line of ${FENCE}`, 1);
  const head = await parseHead(lines.slice(1, end).join('\n'));
  return { head, body: lines.slice(end + 1).join('\n'), before: end + 1 };
}

async function parseHead(text: string): Promise<PromptHead> {
  if (text.length > MAX_HEAD) throw new PromptFileError(`the front matter has more than ${MAX_HEAD} characters`, 1);
  // Loaded with the first prompt: a server without prompts starts without it.
  const yaml = await import('yaml');
  const counter = new yaml.LineCounter();
  const lineAt = (offset: number): number => counter.linePos(offset).line + 1;
  let document: Document;
  let value: unknown;
  try {
    document = yaml.parseDocument(text, { ...YAML, lineCounter: counter });
    assertSound(document, yaml, lineAt);
    value = document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch (error) {
    if (error instanceof PromptFileError) throw error;
    // The library says so by overflowing the stack where there are too many levels, and of aliases in words.
    const what = error instanceof RangeError ? 'levels' : 'aliases';
    throw new PromptFileError(`the front matter has too many ${what}`, 2);
  }
  const result = headSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path ?? [];
  const where = path.length === 0 ? '' : `${path.map(String).join('.')}: `;
  const known = Object.keys(headSchema.shape).join(', ');
  const hint = issue?.code === 'unrecognized_keys' && path.length === 0 ? `; there are ${known}` : '';
  throw new PromptFileError(`${where}${issue?.message ?? 'is not valid'}${hint}`, lineAt(offsetOf(document, path)));
}

/** Keys are looked at below: the library compares each with each. */
const YAML = { uniqueKeys: false, stringKeys: true, prettyErrors: false, logLevel: 'error' } as const;

/** @throws PromptFileError for what is no YAML, a key that comes twice, and too many aliases */
function assertSound(document: Document, yaml: typeof import('yaml'), lineAt: (offset: number) => number): void {
  const [broken] = document.errors;
  if (broken !== undefined) throw new PromptFileError(broken.message, lineAt(broken.pos[0]));
  let aliases = 0;
  yaml.visit(document, {
    Alias(_key, node) {
      if (++aliases > MAX_ALIASES)
        throw new PromptFileError('the front matter has too many aliases', lineAt(node.range?.[0] ?? 0));
    },
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!yaml.isScalar(key)) continue;
        if (seen.has(key.value))
          throw new PromptFileError(`${JSON.stringify(key.value)} is there twice`, lineAt(key.range?.[0] ?? 0));
        seen.add(key.value);
      }
    },
  });
}

/** Where a value begins, or the nearest one around it. */
function offsetOf(document: { getIn(path: unknown[], keep: boolean): unknown }, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true) as
      | { readonly range?: readonly number[] | null }
      | undefined;
    const offset = node?.range?.[0];
    if (offset !== undefined) return offset;
  }
  return 0;
}
