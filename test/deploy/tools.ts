/** The programs that parse charts, manifests and compositions. `node scripts/install-interop.mjs deploy` installs them. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Service } from '../services/service.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const READER = here('go/.built/deploy');
const VALIDATE = here('.venv/bin/kubernetes-validate');

/** The folder of all deployment files. */
export const DEPLOY = here('../../examples/deploy');

export const deployTools: Service = {
  name: 'what reads charts',
  missing: () =>
    existsSync(READER) && existsSync(VALIDATE) ? undefined : 'run node scripts/install-interop.mjs deploy',
};

const run = async (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> =>
  (await promisify(execFile)(program, [...args], { env: { ...process.env, ...env } })).stdout;

/** The manifests of the chart, as `helm template` prints them. @throws the error of Helm */
export const chart = (release: string, values: readonly string[]): Promise<string> =>
  run(READER, ['chart', release, `${DEPLOY}/helm`, ...values]);

/** The composition as Docker Compose reads it. @throws its errors */
export const composition = async (file: string, env: NodeJS.ProcessEnv): Promise<Composition> =>
  JSON.parse(await run(READER, ['compose', file], env)) as Composition;

export interface Composition {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly environment?: Readonly<Record<string, string>>;
        readonly deploy?: { readonly replicas?: number };
        readonly read_only?: boolean;
        readonly volumes?: readonly { readonly source: string; readonly target: string; readonly type: string }[];
        readonly secrets?: readonly { readonly source: string; readonly target: string }[];
        readonly command?: readonly string[];
      }
    >
  >;
}

/** Checks manifests strictly against the schemas of a Kubernetes version. @returns the lines of the report @throws the errors */
export const validate = async (file: string, version: string): Promise<readonly string[]> =>
  (await run(VALIDATE, ['--strict', '-k', version, file])).trim().split('\n');
