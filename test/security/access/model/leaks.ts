/** Searches the bytes of an answer for parts of things that its reader may not have. */

import type { Operation } from './reference.ts';
import type { Scene } from './scene.ts';
import { isImitation, THINGS } from './things.ts';

/** Sealed text, such as a cursor. Its random letters may contain any mark by chance. URIs and names have other characters. */
const SEALED = /[\w-]{60,}/g;

/**
 * @param asked the text of the request, which an answer may repeat
 * @param handedOut whether the answer is the result of a tool or prompt. In such a result, an imitation counts as the thing whose
 * URI it claims
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
    // Lists leave out a denied resource. The result of a tool or prompt names it in a text that stands in its place.
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
