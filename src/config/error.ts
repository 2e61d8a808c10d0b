/** A mistake in a configuration. The message has one line for each mistake. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
