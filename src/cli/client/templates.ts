/** `vitrine templates`. */
import type { Secrets } from '../../config/secrets.ts';
import { onServer, type ServerFlags } from './connect.ts';
import { EXIT_OK } from './exit-codes.ts';
import { countOf } from './numbers.ts';
import { safe, safeLines } from './output.ts';

export interface TemplatesFlags extends ServerFlags {
  readonly maxResources?: string;
}

export const templates = (server: string, flags: TemplatesFlags, secrets: Secrets): Promise<void> =>
  onServer(server, flags, secrets, async ({ resources, output, signal }) => {
    const maxResources = countOf(flags.maxResources, '--max-resources', 10_000);
    await output.list(resources.templates({ signal, maxResources }), (template) => {
      const { uriTemplate, name, title, description, mimeType } = template;
      const called = typeof title === 'string' && title !== '' ? title : String(name);
      const type = typeof mimeType === 'string' ? `  ${output.paint('dim', safe(mimeType))}` : '';
      const about =
        typeof description === 'string' && description !== ''
          ? `\n${safeLines(description).trimEnd().replace(/^/gm, '    ')}`
          : '';
      const label = called === uriTemplate ? '' : `  ${safe(called)}`;
      return `${output.paint('cyan', safe(uriTemplate))}${label}${type}${about}`;
    });
    return EXIT_OK;
  });
