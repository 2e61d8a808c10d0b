/** Names that some file system takes for one name. */

/** Folds case and the form of Unicode, so that two names are equal if some file system takes them for one. */
export const foldName = (name: string): string => name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');

/**
 * The form of a name that all names have in common which some file system takes for one: beside case and the form of
 * Unicode, HFS+ passes over code points that nobody sees, and Windows over dots and spaces at the end and over what follows a
 * colon (`.git::$INDEX_ALLOCATION`).
 */
export const plainName = (name: string): string =>
  foldName(name.replace(/\p{Default_Ignorable_Code_Point}/gu, ''))
    .replace(/:.*$/su, '')
    .replace(/[. ]+$/, '');
