/** Something in a configuration that is to be mended by whoever wrote it. The message is one line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
