/** Something in a configuration that is to be mended by whoever wrote it. The message is a line, or one for each mistake. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
