/** Loads the plug-ins that come with Vitrine: parts that few users need, loaded only when a configuration uses them. */
import type { AccessPolicy } from './access.ts';
import type { Log } from './context.ts';

/** The default export of a module that makes an access policy from the settings under one key of `access`. */
export interface PolicyPlugIn<Settings> {
  /**
   * @param settings checked by the schema of the configuration
   * @param place the folder that relative paths start from (`base`), and the log for failures
   * @throws ResourceError `invalid` with the file, the place in it and what is wrong there
   */
  create(settings: Settings, place: { readonly base: string; readonly log: Log }): Promise<AccessPolicy>;
}

/**
 * Returns the default export of a plug-in, by the name of its folder. The path is put together at run time, so that a bundler
 * leaves the plug-in out.
 */
export async function loadPlugIn<PlugIn>(name: 'cedar' | 'feeds' | 'media' | 'openapi' | 'rtf'): Promise<PlugIn> {
  const { default: plugIn } = (await import(['vitrine', 'plug-ins', name].join('/'))) as { readonly default: PlugIn };
  return plugIn;
}
