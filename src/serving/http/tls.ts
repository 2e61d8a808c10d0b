/** TLS in Vitrine itself: loads certificates from files, and again when the files change. */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions, type Server } from 'node:tls';
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { MAX_PEM_BYTES, readUpTo } from '../../core/read-up-to.ts';
import { followFiles } from '../followed-files.ts';

export interface TlsOptions {
  /** Path of the certificate chain, in PEM. */
  readonly cert: string;
  /** Path of the private key of the certificate, in PEM. */
  readonly key: string;
  /** The passphrase of an encrypted key. */
  readonly passphrase?: string | undefined;
  /** Path of the authorities that sign clients' certificates, in PEM. Default: clients need no certificate. */
  readonly ca?: string | undefined;
  /** The lowest version of TLS. Default: `TLSv1.2`. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined;
}

/** The contents of the files as last read. */
export interface Certificates {
  readonly context: SecureContextOptions;
  /** Equal for equal contents of all files. */
  readonly digest: string;
  readonly validTo: string;
}

/** @throws ResourceError `invalid` that says which file is wrong, and why */
export async function loadCertificates(options: TlsOptions): Promise<Certificates> {
  const { cert: certPath, key: keyPath, ca: caPath, passphrase, minVersion = 'TLSv1.2' } = options;
  const cert = await contentOf('certificate', certPath);
  const key = await contentOf('key', keyPath);
  const ca = caPath === undefined ? undefined : await contentOf('client authority', caPath);
  const certificate = certificateOf('certificate', certPath, cert);
  if (!certificate.checkPrivateKey(privateKeyOf(keyPath, key, passphrase)))
    throw wrong(`The key at ${keyPath} does not belong to the certificate at ${certPath}`);
  if (caPath !== undefined && ca !== undefined) certificateOf('client authority', caPath, ca);
  const context = {
    cert,
    key,
    minVersion,
    ...(passphrase !== undefined && { passphrase }),
    ...(ca !== undefined && { ca }),
  };
  try {
    createSecureContext(context);
  } catch (cause) {
    throw wrong(`The certificate at ${certPath} cannot be used: ${(cause as Error).message}`, cause);
  }
  const digest = createHash('sha256');
  for (const each of [cert, key, ca ?? '']) digest.update(`${each.length}:`).update(each);
  return { context, digest: digest.digest('base64'), validTo: certificate.validTo };
}

/**
 * Gives the server new certificates when the files change, until it closes. Open connections continue. Invalid files
 * change nothing, and are reported in the log.
 */
export function followCertificates(server: Server, options: TlsOptions, first: Certificates, log: Log): void {
  let digest = first.digest;
  let told: string | undefined;
  let closed = false;
  warnIfExpired(first, log);

  async function reload(): Promise<void> {
    try {
      const next = await loadCertificates(options);
      told = undefined;
      if (closed || next.digest === digest) return;
      server.setSecureContext(next.context);
      digest = next.digest;
      log.info('a new TLS certificate is in use', { validTo: next.validTo });
      warnIfExpired(next, log);
    } catch (error) {
      const reason = (error as Error).message;
      if (!closed && reason !== told) log.error('the previous TLS certificate stays in use', { reason });
      told = reason;
    }
  }

  const paths = [options.cert, options.key, ...(options.ca === undefined ? [] : [options.ca])];
  const files = followFiles(paths, () => void reload(), log);
  server.once('close', () => {
    closed = true;
    files.close();
  });
}

function warnIfExpired({ validTo }: Certificates, log: Log): void {
  if (Date.parse(validTo) < Date.now()) log.warn('the TLS certificate has expired', { validTo });
}

async function contentOf(what: string, path: string): Promise<string> {
  let bytes: Buffer | undefined;
  try {
    bytes = await readUpTo(path, MAX_PEM_BYTES);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const why = READ_PROBLEMS[code] ?? 'it cannot be read';
    throw wrong(`The TLS ${what} at ${path}: ${why}`, cause);
  }
  if (bytes === undefined) throw wrong(`The TLS ${what} at ${path}: it has more than ${MAX_PEM_BYTES} bytes`);
  return bytes.toString('utf8');
}

const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user is not allowed to read it',
};

function certificateOf(what: string, path: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw wrong(`The TLS ${what} at ${path}: it holds no certificate in PEM`, cause);
  }
}

function privateKeyOf(path: string, key: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
  } catch (cause) {
    const encrypted = /BEGIN ENCRYPTED PRIVATE KEY|^Proc-Type: 4,ENCRYPTED/m.test(key);
    if (!encrypted) throw wrong(`The TLS key at ${path}: it holds no private key in PEM`, cause);
    const why = passphrase === undefined ? 'it needs a passphrase' : 'the passphrase is wrong';
    throw wrong(`The TLS key at ${path}: ${why}`, cause);
  }
}

const wrong = (message: string, cause?: unknown): ResourceError => new ResourceError('invalid', message, { cause });
