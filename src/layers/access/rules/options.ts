/** Rules as they are configured. A property that a rule leaves out may have any value. */
import type { AccessEffect, AccessOperation } from '../../../core/decided.ts';

/** The callers of a rule. All conditions have to hold. One entry of a list is enough, but all of `scopes` are needed. */
export interface Who {
  /** Whether the caller has a token. */
  readonly authenticated?: boolean | undefined;
  /** Subjects, as their issuers name them. With several issuers, give `issuers`, too. */
  readonly subjects?: readonly string[] | undefined;
  readonly issuers?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
  /** OAuth client ids. */
  readonly clients?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
}

export type ArgumentValue = string | number | boolean;

export interface AccessRule {
  /** The name in the audit and in `vitrine explain`. Default: the place of the rule, as in `rule 3`. */
  readonly name?: string | undefined;
  readonly effect: AccessEffect;
  /** Default: anyone. */
  readonly who?: 'anyone' | 'anonymous' | 'authenticated' | Who | undefined;
  /** Default: all; for `ask`, the operations that a human can be asked about: `read`, `call` and `prompt`. */
  readonly operations?: readonly AccessOperation[] | undefined;
  readonly mounts?: readonly string[] | undefined;
  /** Globs over published URIs, such as `docs+file:///guide/**`, which is the folder and all below it. */
  readonly uris?: readonly string[] | undefined;
  /** Globs over published URIs to which the rule does not apply. */
  readonly except?: readonly string[] | undefined;
  /** Globs over paths in the tree of a repository: at every revision, and in every view that shows them. */
  readonly paths?: readonly string[] | undefined;
  /** Globs over MIME types, such as `image/*`. */
  readonly mimeTypes?: readonly string[] | undefined;
  /** Sizes in bytes. */
  readonly minBytes?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** Seconds since the last change. */
  readonly newerThanSeconds?: number | undefined;
  readonly olderThanSeconds?: number | undefined;
  /** The audience in a resource's annotations; one of these is enough. */
  readonly audience?: readonly ('user' | 'assistant')[] | undefined;
  /** Globs over names of tools. */
  readonly tools?: readonly string[] | undefined;
  /** For each argument the value, or several of which one has to match. Texts are globs. */
  readonly arguments?: Readonly<Record<string, ArgumentValue | readonly ArgumentValue[]>> | undefined;
  /** Globs over names of prompts. */
  readonly prompts?: readonly string[] | undefined;
  /** For `ask`: how long an answer is remembered, in seconds. Default: 0. */
  readonly rememberSeconds?: number | undefined;
}

export interface AccessRules {
  /** Their order does not matter: the strictest rule that matches decides. */
  readonly rules: readonly AccessRule[];
  /** The effect if no rule matches. Default: `deny`. */
  readonly default?: 'allow' | 'deny' | 'hide' | undefined;
}
