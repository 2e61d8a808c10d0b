/** Lists the elements and attributes that stay in a server's HTML and SVG, and decides which addresses may stay in them. */

/** Elements of a document, without forms, frames, media, styles and scripts. */
export const HTML_ELEMENTS: readonly string[] =
  `a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure
  h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strong sub summary sup table tbody td
  tfoot th thead time tr u ul var wbr`.split(/\s+/);

/** Without `id`, `class`, `name` and `style`, which could affect the rest of the page. */
export const HTML_ATTRIBUTES: readonly string[] =
  'abbr alt colspan datetime dir height href lang open reversed rowspan scope span src start title width'.split(' ');

/** Shapes, text, gradients and filters, without links, images, animation, styles, scripts and foreign content. */
export const SVG_ELEMENTS: readonly string[] =
  `svg g defs symbol marker path rect circle ellipse line polyline polygon text tspan textpath lineargradient
  radialgradient stop clippath mask pattern filter feblend fecolormatrix fecomponenttransfer fecomposite
  feconvolvematrix fediffuselighting fedisplacementmap fedistantlight fedropshadow feflood fefunca fefuncb fefuncg fefuncr
  fegaussianblur femerge femergenode femorphology feoffset fepointlight fespecularlighting fespotlight fetile
  feturbulence`.split(/\s+/);

export const SVG_ATTRIBUTES: readonly string[] =
  `amplitude azimuth basefrequency clip clip-path clip-rule clippathunits color color-interpolation
  color-interpolation-filters cx cy d diffuseconstant direction display divisor dx dy edgemode elevation exponent fill
  fill-opacity fill-rule filter filterunits flood-color flood-opacity font-family font-size font-size-adjust font-stretch
  font-style font-variant font-weight fx fy gradienttransform gradientunits height href id in in2 intercept k1 k2 k3 k4
  kernelmatrix lang lengthadjust letter-spacing lighting-color marker-end marker-mid marker-start markerheight
  markerunits markerwidth mask maskcontentunits maskunits mode numoctaves offset opacity operator order orient overflow
  paint-order pathlength patterncontentunits patterntransform patternunits points preservealpha preserveaspectratio
  primitiveunits r radius refx refy result role rotate rx ry scale seed shape-rendering slope specularconstant
  specularexponent spreadmethod startoffset stddeviation stitchtiles stop-color stop-opacity stroke stroke-dasharray
  stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width surfacescale tablevalues
  targetx targety text-anchor text-decoration text-rendering textlength transform transform-origin type values
  vector-effect version viewbox visibility width word-spacing writing-mode x x1 x2 xchannelselector xlink:href xmlns
  xmlns:xlink y y1 y2 ychannelselector z`.split(/\s+/);

const LINKS: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);
const RASTER_DATA = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
const LOCAL = /^#[\w.:-]+$/;
const LOCAL_URL = /^url\(\s*(["']?)#[\w.:-]+\1\s*\)(?:\s+[\w#]+)?$/;

/** Whether an attribute of HTML may stay with this value. */
export function keepsInHtml(name: string, value: string, allowImage: (url: URL) => boolean): boolean {
  switch (name) {
    case 'href':
      return LINKS.has(absolute(value)?.protocol ?? '');
    case 'src': {
      if (RASTER_DATA.test(value)) return true;
      const url = absolute(value);
      return url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:') && allowImage(url);
    }
    default:
      return true;
  }
}

/** Whether an attribute of SVG may stay with this value. An SVG may refer only to its own parts. */
export function keepsInSvg(name: string, value: string): boolean {
  if (name === 'href' || name === 'xlink:href') return LOCAL.test(value);
  // A CSS escape or a comment may hide what a value says.
  if (/[\\]|\/\*|@|expression|javascript/i.test(value)) return false;
  return !/url|image|src/i.test(value) || LOCAL_URL.test(value.trim()) || isName(name);
}

/** Whether the attribute's value is a name, and never CSS. */
const isName = (name: string): boolean =>
  ['id', 'result', 'in', 'in2', 'font-family', 'type', 'xmlns', 'xmlns:xlink'].includes(name);

/** Returns the URL of an absolute address; undefined for a relative one, which would lead to the host's own site. */
function absolute(value: string): URL | undefined {
  return URL.canParse(value) ? new URL(value) : undefined;
}
