/** Verifies tokens: static tokens, JWTs of issuers, and opaque tokens, about which the issuer is asked. */
import type { Verified } from './claims.ts';
import { createIntrospection } from './introspection.ts';
import { createJwtVerifier, type Shower, type Verifier } from './jwt.ts';
import { createMetadata, type Endpoint, type MetadataSource } from './metadata.ts';
import type { AuthOptions, TokenIssuer } from './options.ts';
import { TokenRefused } from './refused.ts';
import { createStaticTokens } from './static-tokens.ts';

export function createVerifier({ resource, issuers = [], tokens = [] }: AuthOptions): Verifier {
  const staticToken = createStaticTokens(tokens);
  const sources = new Map(issuers.map((each) => [each, createMetadata(each.issuer, wantedOf(each))]));
  const metadataOf = (issuer: TokenIssuer): MetadataSource =>
    sources.get(issuer) ?? createMetadata(issuer.issuer, wantedOf(issuer));
  const jwt = createJwtVerifier({ issuers, resource }, metadataOf);
  const [opaque] = issuers.flatMap((issuer) => {
    const { introspection, audience = resource } = issuer;
    if (introspection === undefined) return [];
    return [createIntrospection({ ...issuer, introspection }, [audience].flat(), metadataOf(issuer))];
  });

  async function verifyIssued(token: string, shower: Shower): Promise<Verified> {
    const verified = (await jwt(token)) ?? (await opaque?.(token, shower));
    if (verified === undefined) throw new TokenRefused('This server does not know the token');
    return verified;
  }

  return (token, shower) => {
    const principal = staticToken(token);
    return principal === undefined ? verifyIssued(token, shower) : { principal };
  };
}

/** The endpoints that are needed and not configured, and so are looked up in the issuer's metadata. */
const wantedOf = ({ jwksUri, introspection }: TokenIssuer): readonly Endpoint[] => [
  ...(jwksUri === undefined ? (['jwks_uri'] as const) : []),
  ...(introspection !== undefined && introspection.url === undefined ? (['introspection_endpoint'] as const) : []),
];
