/** Looks through the bytes of an answer for what its reader may not have. */

import type { Operation } from './reference.ts';
import type { Scene } from './scene.ts';
import { isImitation, THINGS } from './things.ts';

/** Sealed text, such as a cursor: random letters that may spell any mark by chance. URIs and names have other characters. */
const SEALED = /[\w-]{60,}/g;

/**
 * @param asked what the question said, which an answer may repeat
 * @param handedOut it is what a tool or prompt handed out: what is only said to be there is as what has its URI
 */
export function leaks(
  { reference, things }: Scene,
  answer: string,
  operation: Operation,
  asked: readonly string[],
  handedOut = false,
): string[] {
  const texts = [...answer.matchAll(/"blob":"([^"]*)"/g)].map(([, blob = '']) =>
    Buffer.from(blob, 'base64').toString(),
  );
  const whole = [answer, ...texts].join('\n');
  const stripped = asked
    .flatMap((each) => [each, JSON.stringify(each).slice(1, -1), JSON.stringify(JSON.stringify(each)).slice(1, -1)])
    .filter((each) => each !== '')
    .reduce((text, each) => text.replaceAll(each, ''), whole)
    .replaceAll(SEALED, '');
  return THINGS.flatMap((thing) => {
    const { inText, inTitle, inUri, listedAs } = thing;
    const isHere = things.includes(thing);
    const imitates = handedOut && isImitation(thing);
    const may = (wanted: Operation): boolean =>
      imitates
        ? reference.ofUri(wanted, 'docs', thing.uri, thing.mimeType) === 'allow'
        : isHere && reference.ofItself(wanted, thing) === 'allow';
    const named = operation === 'prompt' ? 'read' : operation;
    // Lists leave out a denied resource; text that is handed out names it where it would have stood.
    const nameable = handedOut ? ['allow', 'ask', 'deny'] : ['allow', 'ask'];
    const mayBeNamed = (): boolean =>
      (isHere || imitates) &&
      nameable.includes(
        imitates ? reference.ofUri(named, 'docs', thing.uri, thing.mimeType) : reference.ofItself(named, thing),
      );
    return [
      ...(inText !== '' && whole.includes(inText) && !may('read') ? [`the text of ${listedAs}`] : []),
      ...(inTitle !== '' && whole.includes(inTitle) && !may(named) ? [`the title of ${listedAs}`] : []),
      ...(inUri !== '' && stripped.includes(inUri) && !mayBeNamed() ? [`the URI of ${listedAs}`] : []),
    ];
  });
}
