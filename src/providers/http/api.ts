/** Makes resources and templates from the operations of an API. Credentials go only to the configured origin. */
import { breaks } from '../../core/breaks.ts';
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ApiReading, ApiSource } from './readings.ts';
import type { Access } from './send.ts';
import type { Target } from './target.ts';
import { compileTemplate, type WebTemplate } from './templates.ts';

/** The most bytes of a document. */
export const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

export interface ApiPlace extends ApiSource {
  /** The access to the server, or else to the origin of the document. */
  readonly access: Access;
  readonly log?: Log | undefined;
}

export interface ApiResources {
  readonly targets: readonly Target[];
  readonly templates: readonly WebTemplate[];
}

const NO_ACCESS: Access = { headers: {}, query: {} };

/** Returns the resources and templates of an API. There may be thousands, so it pauses for other work. */
export async function resourcesOf({ base, operations, more }: ApiReading, place: ApiPlace): Promise<ApiResources> {
  const { origin } = new URL(base);
  const configured = place.server ?? place.from;
  const isOwn = configured !== undefined && new URL(configured).origin === origin;
  const common = { access: isOwn ? place.access : NO_ACCESS, head: false };
  const targets = new Map<string, Target>();
  const templates: WebTemplate[] = [];
  const takeBreak = breaks();
  for (const { url, urlTemplate, values, description } of operations) {
    await takeBreak();
    if (url !== undefined && URL.canParse(url)) {
      const parsed = new URL(url);
      // A path that leads upwards is not part of this API.
      if (parsed.origin === origin && !targets.has(parsed.href) && parsed.href === url)
        targets.set(parsed.href, { ...common, uri: parsed.href, url: parsed, description, feed: false });
    }
    if (urlTemplate === undefined) continue;
    try {
      templates.push(compileTemplate(urlTemplate, { ...common, description, values }));
    } catch (error) {
      if (!(error instanceof ResourceError)) throw error;
      place.log?.debug('left out of an API: its URL cannot become a template', { operation: description.name });
    }
  }
  if (more) place.log?.warn('left out of an API: it has too many operations', { document: place.what });
  return { targets: [...targets.values()], templates };
}
