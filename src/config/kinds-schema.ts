/** The schema of `kinds`; documented in `docs/guide/plug-ins.md`. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';

/** The name of a package, or of a part of one, as in `vitrine-provider-notion` or `@example/vitrine/notion`. */
const PACKAGE = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?:\/[A-Za-z0-9._~-]+)*$/;

/** Whether the text is a path: relative to the folder of the configuration, or absolute. */
export const isModulePath = (text: string): boolean => /^\.{1,2}[\\/]/.test(text) || isAbsolute(text);

export const kindsConfig = z
  .array(
    z
      .string()
      .max(1_024)
      .refine(
        (name) => isModulePath(name) || PACKAGE.test(name),
        'is the name of a package, as in vitrine-provider-notion, or a path, as in ./kinds/notion.js',
      ),
  )
  .max(100);
