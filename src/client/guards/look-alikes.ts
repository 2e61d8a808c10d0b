/** Folds text to what a reader sees: look-alike letters and invisible characters make no difference. */

/** For each Latin letter in lower case, its look-alikes that Unicode does not fold. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'аɑαᴀꭺ@4',
  b: 'ьвϐβƅʙᏼƀ',
  c: 'сςᴄ¢',
  d: 'ԁɗđᴅꓒ',
  e: 'еєҽεəɛэᴇ3€',
  f: 'ғƒꜰẝ',
  g: 'ɡցǥɢ9',
  h: 'һհнħʜ',
  // These look the same in most fonts.
  i: 'lіιıɩɪӏłʟ1',
  j: 'јϳᴊ',
  k: 'кκᴋ',
  m: 'мᴍ',
  n: 'пηոնŋɴ',
  o: 'оοօσøᴏ०໐ഠ0',
  p: 'рρᴘþ',
  q: 'ԛզ',
  r: 'гᴦɾяʀ',
  s: 'ѕꜱ5$',
  t: 'тτŧᴛ7',
  u: 'υսцμᴜ',
  v: 'ѵνᴠ',
  w: 'ԝшѡωᴡ',
  x: 'хχ×',
  y: 'уγүʏ',
  z: 'ᴢƶ2',
};

const LATIN = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([letter, others]) => [...others].map((each) => [each, letter])),
);

/** The letter A of symbol alphabets: letters in black circles and squares, and those of flags. */
const SYMBOLS: readonly number[] = [0x1_f150, 0x1_f170, 0x1_f1e6];

/**
 * Returns one form for all spellings of a text: lower case, without accents and invisible characters, in Unicode's
 * compatibility form, and with spaced single letters joined (`p a s s`).
 */
export function foldText(text: string): string {
  const plain = [...text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')]
    .map(withoutSymbol)
    .join('')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '');
  return plain
    .normalize('NFC')
    .replace(/(?<![\p{L}\p{N}])(?:[\p{L}\p{N}@$][^\p{L}\p{N}@$]+){2,}[\p{L}\p{N}@$](?![\p{L}\p{N}])/gu, (spaced) =>
      spaced.replace(/[^\p{L}\p{N}@$]+/gu, ''),
    );
}

/** Replaces look-alikes in folded text with Latin letters. Use it to compare, not to show. */
export const skeletonOf = (folded: string): string => [...folded].map((each) => LATIN.get(each) ?? each).join('');

function withoutSymbol(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const base = SYMBOLS.find((each) => code >= each && code < each + 26);
  return base === undefined ? character : String.fromCharCode(0x61 + code - base);
}
