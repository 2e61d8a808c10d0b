/** What two names have in common that are one name for some file system: in case, and in the form of Unicode. */
export const foldName = (name: string): string => name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
