/** Opens the place where answers are shared. */
import type { Bus } from '../bus.ts';
import { type Log, SILENT } from '../context.ts';
import { invalid } from '../errors.ts';
import type { Keys } from '../keys.ts';
import { busStore } from './bus-store.ts';
import { folderStore } from './folder-store.ts';
import { sealedAnswers } from './sealed-answers.ts';
import type { SharedAnswers } from './shared-answers.ts';

/**
 * The place of shared answers: a folder, which is made for this user only, or the memory of the bus. It has `maxBytes` for all of
 * them, where those that were used longest ago make room. Default: 1 GiB in a folder, 64 MiB on the bus.
 */
export type AnswersOptions =
  | { readonly folder: string; readonly maxBytes?: number | undefined; readonly log?: Log | undefined }
  | { readonly bus: true; readonly maxBytes?: number | undefined; readonly log?: Log | undefined };

/** @throws ResourceError `invalid` without keys, without the bus, and for a folder that is a link */
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
