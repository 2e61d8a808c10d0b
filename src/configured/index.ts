/** Turns a configuration file into options of `createVitrine`. */
import { closeMounts } from '../config/mounts.ts';
import type { Environment } from '../config/references.ts';
import { createSecrets } from '../config/secrets.ts';
import { type Log, SILENT } from '../core/context.ts';
import type { EngineOptions } from '../engine/index.ts';
import { answersOf } from './answers.ts';
import { engineOptions } from './engine-options.ts';
import { openConfig } from './open.ts';
import { rankedIndexOf } from './ranked-index.ts';

export { ConfigError } from '../config/error.ts';
export { defineKind, type KindMount, type ProviderKind } from '../config/plug-ins/define-kind.ts';
export type { Config } from '../config/schema.ts';

export interface LoadConfigOptions {
  /** The values for references such as `${TOKEN}`. Default: the environment of this process. */
  readonly env?: Environment | undefined;
  /** The log for mounts, while they are opened and used. Default: nothing is logged. */
  readonly log?: Log | undefined;
}

/**
 * Opens the mounts, prompts and rules that a file such as `vitrine.yaml` names, for `createVitrine`, whose `close` closes them.
 * The options do not include `auth`, `bus`, `explorer`, `telemetry`, and the parts of `server` and `limits` that are about the
 * wire: the program that serves has to apply these.
 *
 * @example
 * const vitrine = createVitrine(await loadConfig('vitrine.yaml'));
 * @throws ConfigError with file, line and column of each mistake; ResourceError `invalid` for a mount that cannot be opened
 */
export async function loadConfig(file: string, options: LoadConfigOptions = {}): Promise<EngineOptions> {
  const { env, log = SILENT } = options;
  const secrets = createSecrets();
  const configured = await openConfig(file, [], { log, secrets, env });
  const { audit } = configured.config;
  const answers = answersOf(configured.config, log);
  const index = await rankedIndexOf(configured, log).catch(async (error: unknown) => {
    const { mounts, promptFolders, policy } = configured;
    await Promise.all([
      closeMounts(mounts),
      ...promptFolders.map(({ provider }) => provider?.close?.()),
      policy?.close?.(),
    ]);
    throw error;
  });
  return {
    ...engineOptions(configured, false),
    ...(secrets.some && { hide: secrets.hide }),
    ...(index && { index }),
    ...(answers && { answers }),
    ...(audit && { audit: { ...audit, log } }),
  };
}
