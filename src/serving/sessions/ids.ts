/** Ids of sessions that replicas share: each id carries the session's facts, sealed, so that any replica can continue it. */

import { createSeal, type Keys, unsealable } from '../../core/keys.ts';
import type { Data } from '../../protocol/data.ts';

/** The most bytes of capabilities in an id, as JSON; with more, other replicas do not know the capabilities. */
const MAX_CAPABILITIES_BYTES = 4_096;

/** The facts that the id of a session carries. */
export interface SessionClaims {
  /** Identifies the session among replicas; clients see it only sealed. */
  readonly id: string;
  /** The principal and OAuth client that began the session. */
  readonly owner: { readonly id: string; readonly clientId: string };
  readonly revision: string;
  /** The capabilities that the client declared. */
  readonly capabilities: Data | undefined;
  /** Milliseconds since 1970. */
  readonly begun: number;
}

export interface SessionIds {
  seal(claims: SessionClaims): string;
  /** Returns undefined for an id that no key has sealed. */
  open(id: string): SessionClaims | undefined;
}

const BOUND = Buffer.from('session');

export function createSessionIds(keys: Keys): SessionIds {
  const { seal, open } = createSeal(keys, 'vitrine session v1');
  return {
    seal({ id, owner, revision, capabilities, begun }) {
      const fits = Buffer.byteLength(JSON.stringify(capabilities ?? null)) <= MAX_CAPABILITIES_BYTES;
      const plain = JSON.stringify([
        id,
        owner.id,
        owner.clientId,
        revision,
        fits ? (capabilities ?? null) : null,
        begun,
      ]);
      return seal(Buffer.from(plain), BOUND).toString('base64url');
    },
    open(text) {
      const sealed = unsealable(text);
      const plain = sealed && open(sealed, BOUND);
      if (plain === undefined) return undefined;
      const [id, owner, clientId, revision, capabilities, begun] = JSON.parse(plain.toString()) as readonly [
        string,
        string,
        string,
        string,
        Data | null,
        number,
      ];
      return { id, owner: { id: owner, clientId }, revision, capabilities: capabilities ?? undefined, begun };
    },
  };
}
