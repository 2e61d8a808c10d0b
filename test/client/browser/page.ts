/** A page that does what the test says, by the functions that it puts into its window. */
import { createSanitizer, svgImageSource } from 'vitrine/client/safety';
import { type Era, look, open } from './look.ts';

/** Changes the file that is watched; of the test. */
declare function edit(): Promise<void>;

/** Watches a file and has it changed; the event that told of that, and what was read before and after it. */
async function change(url: string, era: Era): Promise<unknown> {
  await using resources = open(url, era);
  const uri = 'file:///guide/tides.txt';
  const read = async () => (await resources.read(uri)).primary?.text();
  const before = await read();
  await using watch = resources.watch(uri);
  await watch.ready;
  await edit();
  for await (const event of watch) {
    const after = await read();
    // It may tell of what was written before, too.
    if (after !== before) return { before, event, after };
  }
  return undefined;
}

function inWorker(url: string, era: Era): Promise<unknown> {
  const worker = new Worker('/worker.js', { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ url, era });
  }).finally(() => worker.terminate());
}

/** Counts calls by markup that should have been taken out. */
let stolen = 0;

/** Puts markup into the page and touches whatever is there, as a user would; how often it ran something. */
async function show(pieces: readonly string[]): Promise<number> {
  stolen = 0;
  const place = document.createElement('div');
  document.body.replaceChildren(place);
  for (const piece of pieces) {
    const element = document.createElement('div');
    element.innerHTML = piece;
    place.append(element);
  }
  for (const element of place.querySelectorAll<HTMLElement>('*')) {
    for (const type of ['click', 'mouseover', 'focus', 'toggle', 'load']) {
      element.dispatchEvent(new Event(type, { cancelable: true }));
    }
    element.focus?.();
  }
  // Whatever else the page loads was asked for before this.
  await new Promise<void>((resolve) => {
    const last = new Image();
    last.onerror = () => resolve();
    last.src = `/nothing-${performance.now()}`;
    place.append(last);
  });
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return stolen;
}

/** The same with what a server has, made safe, and as it is. */
async function shown(url: string, era: Era, uris: readonly string[]): Promise<unknown> {
  await using resources = open(url, era);
  const { toSafeHtml, toSafeSvg } = await createSanitizer();
  const texts = await Promise.all(uris.map(async (uri) => (await resources.read(uri)).primary?.text() ?? ''));
  const safe = texts.map((text, at) => (uris[at]?.endsWith('.svg') ? toSafeSvg(text) : toSafeHtml(text)));
  return { safe, ran: await show(safe), ranUnsafe: await show(texts) };
}

/** The same with HTML and SVG, the latter as an image, too. Drawings that are refused are none. */
async function showSafe(html: readonly string[], svg: readonly string[]): Promise<unknown> {
  const { toSafeHtml, toSafeSvg } = await createSanitizer();
  const drawings = svg.flatMap((markup) => {
    try {
      return [toSafeSvg(markup)];
    } catch {
      return [];
    }
  });
  const images = drawings.map((each) => {
    const image = new Image();
    image.src = svgImageSource(each);
    return image.outerHTML;
  });
  const ran = await show([...html.map(toSafeHtml), ...drawings, ...images]);
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  const loaded = [...document.images].filter(({ naturalWidth }) => naturalWidth > 0).length;
  return { ran, drawings: drawings.length, loaded };
}

Object.assign(globalThis, { look, change, inWorker, shown, show, showSafe, steal: () => stolen++ });
