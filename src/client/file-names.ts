/** Finds file names that some file system treats as the same. */

/** Folds case and Unicode form: two names fold to the same text if some file system treats them as one. */
export const foldName = (name: string): string => name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');

/**
 * Returns one form for all names that some file system treats as the same. Besides case and Unicode form, HFS+ ignores invisible
 * code points, and Windows ignores dots and spaces at the end and everything after a colon (`.git::$INDEX_ALLOCATION`).
 */
export const plainName = (name: string): string =>
  foldName(name.replace(/\p{Default_Ignorable_Code_Point}/gu, ''))
    .replace(/:.*$/su, '')
    .replace(/[. ]+$/, '');
