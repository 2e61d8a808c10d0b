/** The options for the authorization at an upstream. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';

const text = z.string().min(1).max(16_384);

const scope = text.optional().describe('Scopes to ask for, separated by spaces. Default: those that the server names');

const issuer = text
  .optional()
  .describe('The only authorization server that may see the credentials: its issuer identifier, an https: URL');

const bearer = z.strictObject({
  type: z.literal('bearer'),
  token: text.describe('Sent with every request; best by reference to the environment'),
});

const clientCredentials = z.strictObject({
  type: z.literal('client-credentials'),
  clientId: text,
  clientSecret: text.describe('Best by reference to the environment'),
  scope,
  issuer,
});

const idToken = text
  .optional()
  .describe('The ID token itself, which expires soon; best by reference to the environment');

const idp = z
  .strictObject({
    issuer: text.describe('The identity provider: its issuer identifier, an https: URL'),
    clientId: text.describe('The client id of Vitrine at the identity provider'),
    clientSecret: text.describe('Best by reference to the environment'),
    idToken,
    idTokenFile: text
      .refine(isAbsolute, 'an absolute path')
      .optional()
      .describe(
        'Absolute path of a file with the ID token. It is read again for each access token, so another program can renew it',
      ),
  })
  .refine(
    (idp) => (idp.idToken === undefined) !== (idp.idTokenFile === undefined),
    'needs either idTokenFile or idToken',
  );

const enterprise = z.strictObject({
  type: z.literal('enterprise'),
  idp: idp.describe('The identity provider of the company, and the client that Vitrine is there'),
  clientId: text.describe('The client id of Vitrine at the authorization server of the upstream'),
  clientSecret: text.describe('Best by reference to the environment'),
  scope,
  issuer: text.describe('The authorization server of the upstream, the only one that the assertion is for'),
});

const oauth = z.strictObject({
  type: z.literal('oauth'),
  clientId: text
    .optional()
    .describe('The id of a client that was registered by hand. Default: Vitrine registers itself'),
  clientSecret: text.optional().describe('The secret of a client that was registered by hand, if it has one'),
  clientMetadataUrl: text
    .optional()
    .describe(
      'The https: URL of a document that describes Vitrine as a client, for servers that take it as a client id',
    ),
  scope,
  issuer,
  redirectPort: z
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe('The port at 127.0.0.1 where `vitrine authorize` waits for the browser. Default: a free port'),
});

/** How Vitrine authenticates itself to an upstream. */
export const AuthConfig = z.discriminatedUnion('type', [bearer, clientCredentials, enterprise, oauth]);
export type AuthConfig = z.infer<typeof AuthConfig>;

export type BearerConfig = z.infer<typeof bearer>;
export type ClientCredentialsConfig = z.infer<typeof clientCredentials>;
export type EnterpriseConfig = z.infer<typeof enterprise>;
export type OAuthConfig = z.infer<typeof oauth>;

/** The mount that an authorization belongs to, and the only URL that its tokens are for. */
export interface AuthTarget {
  readonly mount: string;
  readonly url: string;
}
