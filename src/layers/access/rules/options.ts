/** Rules as they are written down. What is not said of something does not matter for it. */
import type { AccessEffect, AccessOperation } from '../../../core/decided.ts';

/** Who asks. Everything that is said has to be so; of a list, one is enough, but of `scopes`, each is needed. */
export interface Who {
  /** Whether the caller has a token. */
  readonly authenticated?: boolean | undefined;
  /** Subjects, as their issuers name them. With several issuers, say `issuers` too. */
  readonly subjects?: readonly string[] | undefined;
  readonly issuers?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
  /** OAuth client ids. */
  readonly clients?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
}

export type ArgumentValue = string | number | boolean;

export interface AccessRule {
  /** For the audit and for `vitrine explain`. Default: its place, as in `rule 3`. */
  readonly name?: string | undefined;
  readonly effect: AccessEffect;
  /** Default: anyone. */
  readonly who?: 'anyone' | 'anonymous' | 'authenticated' | Who | undefined;
  /** Default: all; of `ask`, those about which a human can be asked: `read`, `call` and `prompt`. */
  readonly operations?: readonly AccessOperation[] | undefined;
  readonly mounts?: readonly string[] | undefined;
  /** Globs over published URIs, such as `docs+file:///guide/**`, which is the folder and all below it. */
  readonly uris?: readonly string[] | undefined;
  /** Globs over published URIs that the rule is not about. */
  readonly except?: readonly string[] | undefined;
  /** Globs over paths in the tree of a repository: at every revision, and in every view that shows them. */
  readonly paths?: readonly string[] | undefined;
  /** Globs over MIME types, such as `image/*`. */
  readonly mimeTypes?: readonly string[] | undefined;
  /** Sizes in bytes. */
  readonly minBytes?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** Since the last change, in seconds. */
  readonly newerThanSeconds?: number | undefined;
  readonly olderThanSeconds?: number | undefined;
  /** Whom it is for, as its annotations say. */
  readonly audience?: readonly ('user' | 'assistant')[] | undefined;
  /** Globs over names of tools. */
  readonly tools?: readonly string[] | undefined;
  /** By name: the value, or one of several; of texts, globs. */
  readonly arguments?: Readonly<Record<string, ArgumentValue | readonly ArgumentValue[]>> | undefined;
  /** Globs over names of prompts. */
  readonly prompts?: readonly string[] | undefined;
  /** Of `ask`: how long an answer is remembered, in seconds. Default: 0. */
  readonly rememberSeconds?: number | undefined;
}

export interface AccessRules {
  /** In any order: of those that match, the strictest decides. */
  readonly rules: readonly AccessRule[];
  /** The effect where no rule matches. Default: `deny`. */
  readonly default?: 'allow' | 'deny' | 'hide' | undefined;
}
