/** Opens the store through which processes share answers. */
import type { Bus } from '../bus.ts';
import { type Log, SILENT } from '../context.ts';
import { invalid } from '../errors.ts';
import type { Keys } from '../keys.ts';
import { busStore } from './bus-store.ts';
import { folderStore } from './folder-store.ts';
import { sealedAnswers } from './sealed-answers.ts';
import type { SharedAnswers } from './shared-answers.ts';

/**
 * Shared answers are kept in a folder, to which only this user has access, or in the memory of the bus. All of them together take
 * up to `maxBytes`; the ones that were used longest ago are removed first. Default: 1 GiB in a folder, 64 MiB on the bus.
 */
export type AnswersOptions =
  | { readonly folder: string; readonly maxBytes?: number | undefined; readonly log?: Log | undefined }
  | { readonly bus: true; readonly maxBytes?: number | undefined; readonly log?: Log | undefined };

/**
 * @throws ResourceError `invalid` without keys, for answers on a bus that does not exist, and for a path that is no folder, or a
 *   link
 */
export function openAnswers(options: AnswersOptions, bus: Bus | undefined, keys: Keys | undefined): SharedAnswers {
  const { maxBytes, log = SILENT } = options;
  if (keys === undefined)
    throw invalid(
      'Shared answers are sealed, and need keys that outlive the process; make one with: openssl rand -base64 32',
    );
  if ('folder' in options)
    return sealedAnswers({ store: folderStore({ folder: options.folder, maxBytes }), keys, log });
  if (bus === undefined)
    throw invalid(
      'Answers are to be shared on the bus, and there is none; configure bus, or a folder, or serve with --workers',
    );
  return sealedAnswers({ store: busStore(bus.memory, maxBytes), keys, log });
}
