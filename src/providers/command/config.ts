/** The options of programs whose output is served; each is documented in `docs/providers/command.md`. */
import { z } from 'zod';

const text = z.string().max(32_768);
const argv = z
  .array(text)
  .max(1_000)
  .refine(([program]) => program !== undefined && program !== '', 'begins with a program')
  .describe('A program and its arguments; there is no shell');
const seconds = z.number().positive().max(86_400);
const bytes = z.number().int().positive().max(1_073_741_824);
const environment = z.record(z.string().regex(/^[^=\0]+$/, 'is a name'), text);

const block = z.strictObject({
  argv,
  mimeType: z.string().min(1).optional().describe('Default: by the name'),
  title: z.string().optional(),
  description: z.string().optional(),
  variables: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'has letters, digits and "_"'),
      z.union([z.string().min(1).max(4_096), z.array(z.string().min(1)).min(1).max(1_000)]),
    )
    .optional()
    .describe('For each {variable} in the path: a pattern (RE2) that must match the whole value, or a list of values'),
  timeoutSeconds: seconds.optional().describe('Default: that of the mount'),
  maxBytes: bytes.optional().describe('Default: that of the mount'),
  cwd: z.string().min(1).optional().describe('Default: that of the mount'),
  env: environment.optional().describe('Environment of this program, beside that of the mount'),
  ttlSeconds: z
    .number()
    .min(0)
    .max(86_400)
    .optional()
    .describe('Seconds for which an output is used again. Default: 0'),
  watch: z
    .strictObject({ everySeconds: z.number().min(0.02).max(86_400).describe('Seconds between two runs') })
    .optional()
    .describe('While somebody watches, the program is run again and its output compared. Default: not watched'),
  follow: argv.optional().describe('While somebody watches, this program runs, and each output of it means a change'),
});

export const commandConfig = z.strictObject({
  run: z
    .union([argv, z.record(z.string().min(1).max(1_024), z.union([argv, block]))])
    .describe('One program with its arguments, or several by path, such as log/{service}.txt'),
  cwd: z.string().min(1).optional().describe('Where programs run. Default: the folder of the configuration'),
  env: environment.optional().describe('Environment of the programs, beside passEnv'),
  passEnv: z
    .array(z.string().min(1))
    .max(1_000)
    .optional()
    .describe('Variables of the server that programs see. Default: PATH, HOME, LANG, LC_ALL, LC_CTYPE, TZ, TMPDIR'),
  timeoutSeconds: seconds.optional().describe('Seconds that a program may run. Default: 30'),
  maxBytes: bytes.optional().describe('Bytes that a program may write. Default: 10485760'),
  maxConcurrent: z.number().int().min(1).max(1_000).optional().describe('Programs that run at a time. Default: 4'),
  maxFollowed: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Programs of follow that run at a time. Default: 16'),
});

export type CommandConfig = z.infer<typeof commandConfig>;
export type CommandBlock = z.infer<typeof block>;

export interface CommandOptions extends CommandConfig {
  /** The name of the root. Default: `commands`. */
  readonly name?: string;
  /** The environment of the server. Default: the process's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Seconds that a program may run. */
export const TIMEOUT_SECONDS = 30;

/** The most bytes that a program may write to its standard output. */
export const MAX_BYTES = 10 * 1024 * 1024;

/** The most programs that run at a time. */
export const MAX_CONCURRENT = 4;

/** The most programs of `follow` that run at a time. */
export const MAX_FOLLOWED = 16;

/** Variables of the server that programs see. */
export const PASSED_ENV: readonly string[] = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'];
