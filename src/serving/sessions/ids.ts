/** Ids of sessions that replicas share: each carries what a session needs, sealed, so that any replica can go on with it. */
import { createSeal, type Keys, unsealable } from '../../core/keys.ts';
import type { Data } from '../messages.ts';

/** The longest capabilities that go into an id, in bytes of JSON; of longer ones other replicas know nothing. */
const MAX_CAPABILITIES_BYTES = 4_096;

/** The facts that the id of a session carries. */
export interface SessionClaims {
  /** Names the session among replicas; clients see it sealed only. */
  readonly id: string;
  /** Who began it, by principal and OAuth client. */
  readonly owner: { readonly id: string; readonly clientId: string };
  readonly revision: string;
  /** As the client declared them. */
  readonly capabilities: Data | undefined;
  /** In milliseconds since 1970. */
  readonly begun: number;
}

export interface SessionIds {
  seal(claims: SessionClaims): string;
  /** Undefined for an id that none of the keys has sealed. */
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
