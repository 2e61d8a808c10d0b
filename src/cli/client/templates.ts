/** `vitrine templates`: lists the resource templates of a server. */
import type { Secrets } from '../../config/secrets.ts';
import { wantedLimits } from './ls.ts';
import { countOf } from './printing/numbers.ts';
import { safe, safeLines, valueText } from './printing/output.ts';
import { onServer, type ServerFlags } from './reaching/connect.ts';
import { tellList } from './stops.ts';

export interface TemplatesFlags extends ServerFlags {
  readonly maxResources?: string;
}

export const templates = (server: string, flags: TemplatesFlags, secrets: Secrets): Promise<void> =>
  onServer(server, flags, secrets, async ({ resources, output, signal }) => {
    const maxResources = countOf(flags.maxResources, '--max-resources', 10_000);
    const listing = resources.templates({ signal, maxResources });
    await output.list(listing, (template) => {
      const { uriTemplate, name, title, description, mimeType } = template;
      const shownName = typeof title === 'string' && title !== '' ? title : valueText(name);
      const type = typeof mimeType === 'string' ? `  ${output.paint('dim', safe(mimeType))}` : '';
      const about =
        typeof description === 'string' && description !== ''
          ? `\n${safeLines(description).trimEnd().replace(/^/gm, '    ')}`
          : '';
      const label = shownName === uriTemplate ? '' : `  ${safe(shownName)}`;
      return `${output.paint('cyan', safe(uriTemplate))}${label}${type}${about}`;
    });
    return tellList(listing.report, output, wantedLimits(flags));
  });
