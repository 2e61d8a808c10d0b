/** Writes words as a part of a glob that ignores the case of letters. */
export const anyCase = (words: string): string =>
  words.replace(/\p{L}/gu, (letter) => {
    const both = new Set([letter.toLowerCase(), letter.toUpperCase()]);
    return both.size === 2 && [...both].every((each) => [...each].length === 1) ? `[${[...both].join('')}]` : letter;
  });
