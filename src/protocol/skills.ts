/**
 * The wire shapes of skills (SEP-2640, `io.modelcontextprotocol/skills`): folders of resources with a `SKILL.md` at their
 * root, listed with the digest and size of every file.
 */
import { z } from 'zod';
import type { CacheHint } from './resources.ts';

/** A key of a server's `capabilities.extensions`; its value is `{directoryRead?}`. */
export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';

export const LIST_SKILLS_METHOD = 'skills/list';
export const GET_SKILL_METHOD = 'skills/get';

/** The name of the file at the root of each skill. */
export const SKILL_FILE = 'SKILL.md';

/** Replaces the list of files in a skill whose contents are generated for each reader. */
export const DYNAMIC = 'dynamic';

/** The most files of one skill, `SKILL.md` included. */
export const MAX_SKILL_FILES = 512;

/** The most bytes of all files of one skill together. */
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

/** The entry of one skill, as another server sends it. This schema checks its shape; further rules are checked elsewhere. */
export const skillSchema = z.looseObject({
  uri,
  frontmatter: z.looseObject({ name: z.string(), description: z.string() }),
  resources: z.union([z.array(skillResourceSchema), z.literal(DYNAMIC)]),
});

/** A file of a skill, with the digest and size of its bytes. */
export interface SkillResource {
  readonly uri: string;
  /** `sha256:` and 64 lower-case hexadecimal digits, of the raw bytes. */
  readonly digest: string;
  /** Bytes of the raw content. */
  readonly size: number;
}

/** The `name` and `description` of a skill, and any other fields of its front matter. */
export interface SkillFrontmatter {
  readonly name: string;
  readonly description: string;
  readonly [field: string]: unknown;
}

/** The entry of one skill, in `skills/list` and `skills/get`. */
export interface Skill {
  /** The URI of its `SKILL.md`. The path segment before that is the skill's name. */
  readonly uri: string;
  /** The front matter of `SKILL.md`, unchanged, as JSON. */
  readonly frontmatter: SkillFrontmatter;
  /** Every file of the skill, including files of nested skills. */
  readonly resources: readonly SkillResource[] | typeof DYNAMIC;
}

export interface ListSkillsResult extends CacheHint {
  readonly skills: readonly Skill[];
  readonly nextCursor?: string;
}

export interface GetSkillResult extends CacheHint {
  readonly skill: Skill;
}
