/** A page with functions in its window that the test calls. */
import { createSanitizer, svgImageSource } from 'vitrine/client/safety';
import { type Era, look, open } from './look.ts';

/** A function of the test that changes the watched file. */
declare function edit(): Promise<void>;

/** Watches a file and has it changed. Gives the event, and the contents before and after it. */
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
    // An event may also report an earlier change.
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

/** Counts calls by markup that should have been removed. */
let stolen = 0;

/** Puts markup into the page and touches everything in it, as a user would. Gives how often the markup called `steal`. */
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
  // The page requests this image last. When it fails, everything else has been requested.
  await new Promise<void>((resolve) => {
    const last = new Image();
    last.onerror = () => resolve();
    last.src = `/nothing-${performance.now()}`;
    place.append(last);
  });
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return stolen;
}

/** Calls `show` with contents of a server: sanitized, and as they are. */
async function shown(url: string, era: Era, uris: readonly string[]): Promise<unknown> {
  await using resources = open(url, era);
  const { toSafeHtml, toSafeSvg } = await createSanitizer();
  const texts = await Promise.all(uris.map(async (uri) => (await resources.read(uri)).primary?.text() ?? ''));
  const safe = texts.map((text, at) => (uris[at]?.endsWith('.svg') ? toSafeSvg(text) : toSafeHtml(text)));
  return { safe, ran: await show(safe), ranUnsafe: await show(texts) };
}

/** Calls `show` with sanitized HTML and SVG, and with images of the SVG. Leaves out drawings that the sanitizer refuses. */
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
