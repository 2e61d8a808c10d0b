/** The `auth` block: whose tokens the HTTP endpoint accepts. */

import { z } from 'zod';
import { isLoopback } from '../core/hosts.ts';

/** The characters of RFC 6749 3.3: a scope goes into headers. */
const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, 'has printable characters without spaces');

const names = z.array(z.string().min(1).max(256)).max(1_000);

/** An address that nobody on the way can change: https, or this machine. */
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
  clientId: z.string().min(1).max(1_024).describe('Who asks, as the issuer knows this server'),
  clientSecret: z.string().min(1).max(4_096).describe('May refer to the environment'),
  clientAuthentication: z
    .enum(['basic', 'post'])
    .optional()
    .describe('How the secret is shown: in a header, or in the body. Default: basic'),
  url: address.optional().describe('Where to ask. Default: as the metadata of the issuer says'),
  subjectClaim: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('What names the subject where there is no sub, such as client_id. Default: nothing; that is refused'),
  cacheSeconds: z
    .number()
    .min(0)
    .max(300)
    .optional()
    .describe('Seconds until a good token is asked for again. Default: 30'),
});

const dpopConfig = z.strictObject({
  required: z.boolean().optional().describe('Whether every token has to be bound to a key. Default: false'),
  algorithms: algorithms.optional().describe('Of proofs. Default: RS256, PS256, ES256, EdDSA and Ed25519'),
  maxAgeSeconds: z.number().min(1).max(600).optional().describe('How old a proof may be. Default: 60'),
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
    .describe('What its tokens say they are for. Default: the resource'),
  jwksUri: address.optional().describe('Where its keys are. Default: as its metadata says'),
  algorithms: algorithms
    .optional()
    .describe('How its tokens may be signed. Default: RS256, PS256, ES256, EdDSA and Ed25519'),
  groupsClaim: z.string().min(1).max(256).optional().describe('The claim that holds the groups. Default: groups'),
  introspection: introspectionConfig
    .optional()
    .describe('Has its tokens that are no JWTs accepted, by asking it. Default: they are refused'),
});

const tokenConfig = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_.@-]{1,128}$/, 'has letters, digits, "_", ".", "@" and "-"'),
  hash: z
    .string()
    .regex(/^(?:[0-9a-fA-F]{64}|[A-Za-z0-9_-]{43}=?)$/, 'is the SHA-256 of the token, in hex or base64url')
    .describe('The SHA-256 of the token, in hex or base64url; the token itself has no place here'),
  scopes: z.array(scope).max(1_000).optional(),
  groups: names.optional(),
});

const distinct =
  (key: string) =>
  (list: readonly object[], context: z.RefinementCtx): void => {
    const all = list.map((each) => (each as Readonly<Record<string, unknown>>)[key]);
    for (const [index, name] of all.entries()) {
      if (all.indexOf(name) !== index)
        context.addIssue({ code: 'custom', path: [index, key], message: `is the ${key} of another one, too` });
    }
  };

/** People sign in to the explorer at this authorization server. */
export const signInConfig = z.strictObject({
  clientId: z.string().min(1).max(1_024).describe('Who asks for tokens, as the issuer knows this server'),
  clientSecret: z.string().min(1).max(4_096).optional().describe('May refer to the environment. Default: none'),
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
    dpop: dpopConfig.optional().describe('Tells clients that tokens may, or have to, be bound to a key of theirs'),
    anonymous: z.boolean().optional().describe('Lets requests without a token in, too. Default: false'),
  })
  .superRefine(({ issuers = [], tokens = [], dpop }, context) => {
    const opaque = issuers.flatMap(({ introspection }, index) => (introspection === undefined ? [] : [index]));
    if (opaque[1] !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['issuers', opaque[1], 'introspection'],
        message: 'One issuer at most can have this: an opaque token does not say whose it is',
      });
    if (dpop?.required === true && tokens.length > 0)
      context.addIssue({
        code: 'custom',
        path: ['dpop', 'required'],
        message: 'Tokens that were handed out by hand are bound to no key; take them out, or this',
      });
    if (issuers.length + tokens.length === 0)
      context.addIssue({ code: 'custom', message: 'Nobody could come in: give issuers or tokens' });
  });
