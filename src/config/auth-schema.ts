/** The schema of `auth`: the issuers and tokens that the HTTP endpoint accepts. */

import { z } from 'zod';
import { isLoopback } from '../core/hosts.ts';

/** A scope has the characters of RFC 6749 3.3, since it is sent in headers. */
const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, 'has printable characters without spaces');

const names = z.array(z.string().min(1).max(256)).max(1_000);

/** An address whose traffic cannot be changed on the way: https, or http on this machine. */
const address = z
  .string()
  .max(2_048)
  .refine(
    (url) =>
      /^https?:\/\/[^\s?#@\\]+$/i.test(url) &&
      URL.canParse(url) &&
      (/^https:/i.test(url) || isLoopback(new URL(url).hostname)),
    'is an https URL (http on this machine) without query, fragment and user',
  );

const algorithms = z
  .array(z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']))
  .min(1);

const introspectionConfig = z.strictObject({
  clientId: z.string().min(1).max(1_024).describe('The client identifier of this server at the issuer'),
  clientSecret: z.string().min(1).max(4_096).describe('The secret of this client; may refer to the environment'),
  clientAuthentication: z
    .enum(['basic', 'post'])
    .optional()
    .describe('How the secret is sent: in a header (basic), or in the body (post). Default: basic'),
  url: address.optional().describe('The introspection endpoint. Default: the one in the metadata of the issuer'),
  subjectClaim: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe(
      'The claim that names the subject if there is no sub, such as client_id. Default: none; the token is refused',
    ),
  cacheSeconds: z
    .number()
    .min(0)
    .max(300)
    .optional()
    .describe('Seconds until the issuer is asked again about a valid token. Default: 30'),
});

const dpopConfig = z.strictObject({
  required: z.boolean().optional().describe('Whether every token has to be bound to a key. Default: false'),
  algorithms: algorithms
    .optional()
    .describe('How proofs may be signed. Default: RS256, PS256, ES256, EdDSA and Ed25519'),
  maxAgeSeconds: z.number().min(1).max(600).optional().describe('How old a proof may be, in seconds. Default: 60'),
  maxProofs: z
    .int()
    .min(100)
    .max(10_000_000)
    .optional()
    .describe('Proofs remembered until they are too old; one principal has a quarter at most. Default: 100000'),
});

const issuerConfig = z.strictObject({
  issuer: address.describe('The issuer identifier of an authorization server, exactly as in its tokens'),
  audience: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1).max(16)])
    .optional()
    .describe('The audience of its tokens, or several that it may be. Default: the resource'),
  jwksUri: address.optional().describe('The URL of its keys. Default: the one in its metadata'),
  algorithms: algorithms
    .optional()
    .describe('How its tokens may be signed. Default: RS256, PS256, ES256, EdDSA and Ed25519'),
  groupsClaim: z.string().min(1).max(256).optional().describe('The claim that holds the groups. Default: groups'),
  introspection: introspectionConfig
    .optional()
    .describe('Accepts its tokens that are not JWTs, and asks it about each. Default: they are refused'),
});

const tokenConfig = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_.@-]{1,128}$/, 'has letters, digits, "_", ".", "@" and "-"'),
  hash: z
    .string()
    .regex(/^(?:[0-9a-fA-F]{64}|[A-Za-z0-9_-]{43}=?)$/, 'is the SHA-256 of the token, in hex or base64url')
    .describe('The SHA-256 of the token, in hex or base64url; never the token itself'),
  scopes: z.array(scope).max(1_000).optional(),
  groups: names.optional(),
});

const distinct =
  (key: string) =>
  (list: readonly object[], context: z.RefinementCtx): void => {
    const all = list.map((entry) => (entry as Readonly<Record<string, unknown>>)[key]);
    for (const [index, name] of all.entries()) {
      if (all.indexOf(name) !== index)
        context.addIssue({ code: 'custom', path: [index, key], message: `is the ${key} of another one, too` });
    }
  };

/** How people sign in to the explorer, at one of the authorization servers. */
export const signInConfig = z.strictObject({
  clientId: z.string().min(1).max(1_024).describe('The client identifier of the explorer at the issuer'),
  clientSecret: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe('The secret of this client; may refer to the environment. Default: none'),
  issuer: address.optional().describe('One of auth.issuers. Default: the first of them'),
  scopes: z
    .array(scope)
    .max(64)
    .optional()
    .describe('Scopes to ask for. Default: auth.scopes, and openid if it is there'),
});

export const authConfig = z
  .strictObject({
    resource: address.describe('The URL of the endpoint as clients know it'),
    issuers: z
      .array(issuerConfig)
      .max(64)
      .superRefine(distinct('issuer'))
      .optional()
      .describe('Authorization servers whose tokens are accepted'),
    tokens: z
      .array(tokenConfig)
      .max(1_000)
      .superRefine(distinct('name'))
      .optional()
      .describe('Tokens that were handed out by hand'),
    scopes: z.array(scope).max(64).optional().describe('Scopes that every token needs'),
    dpop: dpopConfig.optional().describe('Tells clients that tokens may, or must, be bound to a key of the client'),
    anonymous: z.boolean().optional().describe('Lets requests without a token in, too. Default: false'),
  })
  .superRefine(({ issuers = [], tokens = [], dpop }, context) => {
    const opaque = issuers.flatMap(({ introspection }, index) => (introspection === undefined ? [] : [index]));
    if (opaque[1] !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['issuers', opaque[1], 'introspection'],
        message: 'Only one issuer can have this: an opaque token does not say which issuer made it',
      });
    if (dpop?.required === true && tokens.length > 0)
      context.addIssue({
        code: 'custom',
        path: ['dpop', 'required'],
        message: 'Tokens that were handed out by hand are bound to no key; remove them, or this',
      });
    if (issuers.length + tokens.length === 0)
      context.addIssue({ code: 'custom', message: 'Nobody could come in: give issuers or tokens' });
  });
