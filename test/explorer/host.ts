/** A host of apps in a browser, on the bridge of the official package. The test answers the requests of the app. */
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

interface Hosting {
  /** Sends a request to the server. */
  request(method: string, params: unknown): Promise<never>;
  /** Receives the updates of the model's context. */
  context(params: unknown): Promise<void>;
}

let shown: AppBridge | undefined;

/** Shows the app, as if the model had called the tool. @param reads whether the host reads resources for it */
async function show(
  html: string,
  tool: { readonly name: string },
  args: Record<string, unknown>,
  reads = true,
): Promise<void> {
  const { request, context } = window as unknown as Hosting;
  for (const before of document.querySelectorAll('iframe')) before.remove();
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  document.body.append(frame);
  const bridge = new AppBridge(
    null,
    { name: 'host', version: '1.0.0' },
    { serverTools: {}, ...(reads && { serverResources: {} }), updateModelContext: { text: {}, resourceLink: {} } },
    { hostContext: { theme: 'dark', toolInfo: { tool: { inputSchema: { type: 'object' }, ...tool } } } },
  );
  bridge.oncalltool = (params) => request('tools/call', params);
  bridge.onreadresource = (params) => request('resources/read', params);
  bridge.onupdatemodelcontext = async (params) => {
    await context(params);
    return {};
  };
  bridge.oninitialized = () => void bridge.sendToolInput({ arguments: args });
  shown = bridge;
  const view = frame.contentWindow;
  if (view === null) throw new Error('there is no frame');
  await bridge.connect(new PostMessageTransport(view, view));
  const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";
  frame.srcdoc = html.replace('<head>', `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`);
}

/** Opens a URI in the shown app, as if the model had called its tool again. */
const reopen = (uri: string): Promise<void> => {
  if (shown === undefined) throw new Error('no app is shown');
  return shown.sendToolInput({ arguments: { uri } });
};

Object.assign(window, { show, reopen });
