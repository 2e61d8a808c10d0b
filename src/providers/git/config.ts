/** The options of a git mount; each is documented in `docs/providers/git.md`. */
import { z } from 'zod';

const count = z.number().int().positive();

export const gitConfig = z.strictObject({
  git: z
    .string()
    .min(1)
    .describe(
      'The repository: a bare one, a .git folder, or a folder with a .git in it; relative to the configuration',
    ),
  branches: z.boolean().default(true).describe('Shows the branches. Default: true'),
  tags: z.boolean().default(true).describe('Shows the tags. Default: true'),
  commits: z.boolean().default(true).describe('Shows commits, with their history, changes and blame. Default: true'),
  alternates: z
    .boolean()
    .default(false)
    .describe('Also reads objects that the repository borrows from others on this machine. Default: false'),
  watch: z.boolean().default(true).describe('Clients can subscribe to changes. Default: true'),
  pollSeconds: z
    .number()
    .min(0)
    .max(86_400)
    .default(10)
    .describe(
      'Seconds between two looks at the references, for changes the system does not report; 0: none. Default: 10',
    ),
  timeoutSeconds: z
    .number()
    .positive()
    .max(3_600)
    .default(30)
    .describe('Seconds that one git command may take. Default: 30'),
  maxProcesses: count
    .max(64)
    .default(4)
    .describe('git commands that run at a time, beside the lasting one. Default: 4'),
  maxOutputBytes: count
    .max(1_073_741_824)
    .default(16_777_216)
    .describe('Most bytes of one diff or blame. Default: 16777216'),
  maxTreeBytes: count
    .max(1_073_741_824)
    .default(67_108_864)
    .describe('Most bytes of one tree object. Default: 67108864'),
});

export type GitConfig = z.infer<typeof gitConfig>;

export interface GitOptions extends Partial<Omit<GitConfig, 'git'>> {
  /** The repository: a bare one, a `.git` folder, or a folder with a `.git` in it. */
  readonly path: string;
  /** The name of the root. Default: the name of the folder. */
  readonly name?: string;
  /** The git program. Default: `git`, as `PATH` finds it. */
  readonly program?: string;
}
