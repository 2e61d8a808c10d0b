/** Tells how to install an optional package, depending on how this Vitrine was installed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ResourceError, type ResourceErrorCode } from './errors.ts';

/** Set in the container image (Dockerfile). */
const IN_IMAGE = 'VITRINE_IMAGE';

/** Matches a path up to its first `node_modules`. */
const PACKAGES = /^(.*?[\\/])node_modules[\\/]/;

/**
 * Returns the command that installs packages beside Vitrine.
 * @param file any file of Vitrine. Its path tells how Vitrine was installed: by npx, globally, in a project, or as a clone
 */
export function installCommand(
  packages: readonly string[],
  file = fileURLToPath(import.meta.url),
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const names = packages.join(' ');
  if (env[IN_IMAGE] !== undefined) return `in an image made FROM this one, RUN npm install -g ${names}`;
  const folder = PACKAGES.exec(file)?.[1];
  if (folder === undefined) return `npm install --no-save ${names}`;
  if (/[\\/]_npx[\\/]/.test(folder))
    return `npx -y -p vitrine ${packages.map((name) => `-p ${name} `).join('')}vitrine`;
  return existsSync(join(folder, 'package.json')) ? `npm install ${names}` : `npm install -g ${names}`;
}

/** @param why says what the packages are for: "To serve a bucket, install the S3 client" */
export const missingPackage = (
  why: string,
  packages: readonly string[],
  options: { readonly code?: ResourceErrorCode; readonly uri?: string; readonly cause: unknown },
): ResourceError => new ResourceError(options.code ?? 'invalid', `${why}: ${installCommand(packages)}`, options);
