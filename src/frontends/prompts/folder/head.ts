/** The head of a prompt's file: YAML between two lines of `---`, and the body that follows it. */
import { z } from 'zod';
import { LineFault, parseHead, splitFrontMatter } from '../../../core/front-matter.ts';
import { isIconAddress, isImageType } from '../../../core/icons.ts';
import type { Icon } from '../../../protocol/resources.ts';

/** An argument as a file declares it. */
export interface DeclaredArgument {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  /** Suggested values; other values are allowed. */
  readonly values?: readonly string[] | undefined;
}

/** The checked head of a prompt's file. */
export interface PromptHead {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  readonly arguments: readonly DeclaredArgument[];
}

/** The parts of a prompt's file. */
export interface PromptSections {
  readonly head: PromptHead;
  readonly body: string;
  /** The number of lines before the body. */
  readonly before: number;
}

const line = z.string().regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'contains control characters');
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

/**
 * Splits a file and checks its head. A file without a head is all body.
 * @throws LineFault for a head that has no end, is not YAML or is not valid
 */
export async function splitPrompt(file: string): Promise<PromptSections> {
  const { head, body, before } = splitFrontMatter(file);
  return { head: head === undefined ? { arguments: [] } : await checkedHead(head), body, before };
}

async function checkedHead(text: string): Promise<PromptHead> {
  const { value, lineOf } = await parseHead(text);
  const result = headSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path ?? [];
  const where = path.length === 0 ? '' : `${path.map(String).join('.')}: `;
  const keys = Object.keys(headSchema.shape).join(', ');
  const hint = issue?.code === 'unrecognized_keys' && path.length === 0 ? `; there are ${keys}` : '';
  throw new LineFault(`${where}${issue?.message ?? 'is not valid'}${hint}`, lineOf(path));
}
