/** The style sheet of the explorer's pages: paper and ink, one brass accent, lines rather than boxes. */
import { createHash } from 'node:crypto';
import { type Kind, STROKES } from '../resources/kinds.ts';

const pictures = (Object.entries(STROKES) as [Kind, string][])
  .map(([kind, path]) => {
    const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path fill='none' stroke='black' d='${path}'/></svg>`;
    return `.k-${kind}{--k:url("data:image/svg+xml,${encodeURIComponent(svg)}")}`;
  })
  .join('\n');

export const STYLE = `:root{color-scheme:light dark;--paper:#fbf8f1;--case:#fffdf8;--ink:#211d17;--soft:#514a3f;--line:#d9d0be;--brass:#6f4f09}
@media (prefers-color-scheme:dark){:root{--paper:#1a1815;--case:#23201b;--ink:#f1ebdf;--soft:#c8bfae;--line:#3f3930;--brass:#e6bd66}}
@media (prefers-contrast:more){:root{--soft:var(--ink);--line:var(--ink)}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/24px system-ui,sans-serif;font-variant-numeric:tabular-nums}
a{color:var(--brass);text-underline-offset:3px;text-decoration-thickness:1px}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:2px solid var(--brass);outline-offset:2px}
.skip{position:absolute;inset-inline-start:-9999px}
.skip:focus{inset-inline-start:8px;inset-block-start:8px;background:var(--case);padding:8px;z-index:1}
header{border-block-end:1px solid var(--line);padding:16px 24px;display:flex;flex-wrap:wrap;gap:8px 24px;align-items:center;justify-content:space-between}
header form{margin:0;flex:0 1 384px}
.crumbs,.where ul{list-style:none;margin:0;padding:0}
.crumbs{display:flex;flex-wrap:wrap;gap:0 8px}
.crumbs li{overflow-wrap:anywhere}
.crumbs li+li::before{content:"▸";color:var(--soft);margin-inline-end:8px}
.room{display:grid;grid-template-columns:224px minmax(0,1fr);max-inline-size:1440px;margin-inline:auto}
.where{padding:24px;border-inline-end:1px solid var(--line)}
.where li{padding-block:4px;overflow-wrap:anywhere}
.where a,.entries a{text-decoration:none}
.where a:hover,.entries a:hover{text-decoration:underline}
[aria-current]{font-weight:600;color:var(--ink)}
main{padding:24px;min-inline-size:0;min-block-size:calc(100dvh - 58px)}
h1,h2{font-family:ui-serif,Georgia,serif;font-weight:500;overflow-wrap:anywhere}
h1{font-size:28px;line-height:40px;margin:0 0 8px}
h2{font-size:18px;margin:24px 0 8px}
.where h2{font:600 12px/24px system-ui,sans-serif;letter-spacing:.08em;text-transform:uppercase;color:var(--soft);margin:0 0 8px}
p{margin:0 0 16px;max-inline-size:72ch}
.soft{color:var(--soft)}
table{inline-size:100%;border-collapse:collapse}
th,td{text-align:start;padding:8px;border-block-end:1px solid var(--line);vertical-align:top}
th{font-weight:500;color:var(--soft);white-space:nowrap}
td:first-child{overflow-wrap:anywhere}
td small{display:block;color:var(--soft)}
.n{text-align:end;white-space:nowrap}
.k{padding-inline-start:24px;position:relative;display:inline-block}
.k::before{content:"";position:absolute;inset-inline-start:0;inset-block-start:4px;inline-size:16px;block-size:16px;background:var(--brass);-webkit-mask:var(--k);mask:var(--k)}
.k img{position:absolute;inset-inline-start:0;inset-block-start:4px;background:var(--paper)}
form{display:flex;flex-wrap:wrap;gap:8px;margin-block:16px;align-items:center}
input,button{font:inherit;color:inherit;background:var(--case);border:1px solid var(--soft);border-radius:2px;padding:4px 12px;min-block-size:32px}
::placeholder{color:var(--soft);opacity:1}
input{flex:1 1 192px;min-inline-size:0;max-inline-size:384px}
.thing{display:grid;grid-template-columns:minmax(0,1fr) 336px;gap:24px}
.case{background:var(--case);border:1px solid var(--line);box-shadow:0 1px 8px rgb(0 0 0/.08);padding:24px;margin:0}
.case img,video{max-inline-size:100%;block-size:auto;display:block;margin-inline:auto}
audio{inline-size:100%}
pre,code{font:13px/20px ui-monospace,monospace}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;tab-size:4}
.label{min-inline-size:0}
.label h2:first-child{margin-block-start:0}
.copy{user-select:all;-webkit-user-select:all;border-inline-start:2px solid var(--brass);padding:4px 12px;margin-block-end:8px;white-space:pre-wrap}
dl{margin:0}dt{color:var(--soft);font-size:13px}dd{margin:0 0 8px;overflow-wrap:anywhere}
.found{padding:0;margin:0 0 24px;list-style:none}
.found li{padding-block:8px;border-block-end:1px solid var(--line)}
.found code{overflow-wrap:anywhere}
.found pre{margin-block-start:8px;color:var(--soft)}
.tabs a{margin-inline-end:16px}
@media (max-width:900px){.thing{grid-template-columns:minmax(0,1fr)}}
@media (max-width:640px){.room{grid-template-columns:minmax(0,1fr)}.where{display:none}main,header{padding:16px}.wide{display:none}.case{padding:16px}}
${pictures}
`;

export const STYLE_PATH = `/explorer/${createHash('sha256').update(STYLE).digest('hex').slice(0, 16)}.css`;
