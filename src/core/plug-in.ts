/** The plug-ins that come with Vitrine: parts that few need, in modules that are loaded when a configuration uses them. */
import type { AccessPolicy } from './access.ts';
import type { Log } from './context.ts';

/** Makes an access policy of what the configuration says under one key of `access`; the default export of its module. */
export interface PolicyPlugIn<Settings> {
  /**
   * @param settings as the schema of the configuration has checked them
   * @param place the folder that relative paths start from, and what takes failures
   * @throws ResourceError `invalid` with the file, the place in it and what is wrong there
   */
  create(settings: Settings, place: { readonly base: string; readonly log: Log }): Promise<AccessPolicy>;
}

/** Loads the default export of a plug-in, by the name of its folder. A bundler cannot follow the import, so it leaves the plug-in out. */
export async function loadPlugIn<PlugIn>(name: 'cedar' | 'feeds' | 'media' | 'openapi' | 'rtf'): Promise<PlugIn> {
  const { default: plugIn } = (await import(['vitrine', 'plug-ins', name].join('/'))) as { readonly default: PlugIn };
  return plugIn;
}
