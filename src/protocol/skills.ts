/**
 * The wire shapes of skills (SEP-2640, `io.modelcontextprotocol/skills`): folders of resources with a `SKILL.md` at their
 * root, listed with the digest and size of every file.
 */
import { z } from 'zod';
import type { CacheHint } from './resources.ts';

/** In `capabilities.extensions` of a server: `{directoryRead?}`. */
export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';

export const LIST_SKILLS_METHOD = 'skills/list';
export const GET_SKILL_METHOD = 'skills/get';

/** The name of the file at the root of each skill. */
export const SKILL_FILE = 'SKILL.md';

/** Stands for the files of a skill whose contents are made anew for each reader. */
export const DYNAMIC = 'dynamic';

/** Files of one skill, `SKILL.md` included. */
export const MAX_SKILL_FILES = 512;

/** Bytes of all files of one skill together. */
export const MAX_SKILL_BYTES = 16 * 1024 * 1024;

/** Names of skills: 1 to 64 characters of a-z, 0-9 and single hyphens between them (Agent Skills, `name`). */
export const SKILL_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

const uri = z.string().min(1, 'a URI is needed').max(65_536, 'a URI has at most 65,536 characters');
const meta = z.looseObject({}).optional();

/** The parameters of `skills/list`. */
export const listSkillsParams = z.looseObject({ cursor: z.string().max(65_536).optional(), _meta: meta }).default({});

/** The parameters of `skills/get`: the URI of the skill's `SKILL.md`. */
export const getSkillParams = z.looseObject({ uri, _meta: meta });

/** One file of a skill. */
export const skillResourceSchema = z.looseObject({
  uri,
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'a digest is "sha256:" and 64 lower-case hexadecimal digits'),
  size: z.number().int().nonnegative(),
});

/** The entry of one skill, as another server sends it; its own rules are checked beyond this shape. */
export const skillSchema = z.looseObject({
  uri,
  frontmatter: z.looseObject({ name: z.string(), description: z.string() }),
  resources: z.union([z.array(skillResourceSchema), z.literal(DYNAMIC)]),
});

/** A file of a skill, and what its bytes are. */
export interface SkillResource {
  readonly uri: string;
  /** `sha256:` and 64 lower-case hexadecimal digits, of the raw bytes. */
  readonly digest: string;
  /** Bytes of the raw content. */
  readonly size: number;
}

/** The `name` and `description` of a skill, and whatever else its author wrote. */
export interface SkillFrontmatter {
  readonly name: string;
  readonly description: string;
  readonly [field: string]: unknown;
}

/** The entry of one skill, in `skills/list` and `skills/get`. */
export interface Skill {
  /** Of its `SKILL.md`. The segment before that is the skill's name. */
  readonly uri: string;
  /** The head of `SKILL.md` as its author wrote it, as JSON. */
  readonly frontmatter: SkillFrontmatter;
  /** Every file of the skill, those of skills nested in it included. */
  readonly resources: readonly SkillResource[] | typeof DYNAMIC;
}

export interface ListSkillsResult extends CacheHint {
  readonly skills: readonly Skill[];
  readonly nextCursor?: string;
}

export interface GetSkillResult extends CacheHint {
  readonly skill: Skill;
}
