/** Certificates for one test: an authority, and certificates that it signs. */
import { generate } from 'selfsigned';

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

const CURVE = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;

/** A certificate authority. */
export async function authority(name = 'Test Authority'): Promise<Pair> {
  const made = await generate([{ name: 'commonName', value: name }], {
    ...CURVE,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert: made.cert, key: made.private };
}

export interface Wish {
  /** Common name. Default: localhost. */
  readonly name?: string;
  readonly passphrase?: string;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** A certificate for this machine, or for a client on it. */
export async function signed(
  by: Pair,
  { name = 'localhost', passphrase, notBefore, notAfter }: Wish = {},
): Promise<Pair> {
  const made = await generate([{ name: 'commonName', value: name }], {
    ...CURVE,
    ca: by,
    ...(passphrase !== undefined && { passphrase }),
    ...(notBefore !== undefined && { notBeforeDate: notBefore }),
    ...(notAfter !== undefined && { notAfterDate: notAfter }),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true },
      { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return { cert: made.cert, key: made.private };
}
