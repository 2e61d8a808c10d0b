/** HTML of a server in a frame that can do nothing: no script, no form, no network, no way up. */

/** The policy of a document in the frame: it loads only what it carries itself. */
export const SANDBOX_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; form-action 'none'; base-uri 'none'";

/** Attributes of an `iframe` element, all of which have to be set. */
export interface SandboxFrame {
  /** Empty: every restriction holds. Set it before `srcdoc`. */
  readonly sandbox: '';
  readonly referrerpolicy: 'no-referrer';
  readonly srcdoc: string;
}

/**
 * The attributes of an `iframe` that shows HTML in isolation (SEC-RES-7): an origin of its own, no scripts, no forms, no
 * popups, and a content security policy under which nothing is fetched, so that looking at it tells nobody.
 *
 * @example
 * const frame = document.createElement('iframe');
 * for (const [name, value] of Object.entries(sandboxFrame(html))) frame.setAttribute(name, value);
 */
export function sandboxFrame(html: string): SandboxFrame {
  // First in the document, before anything that the server wrote: a policy holds from where it stands.
  const policy = `<meta http-equiv="Content-Security-Policy" content="${SANDBOX_POLICY}">`;
  return {
    sandbox: '',
    referrerpolicy: 'no-referrer',
    srcdoc: `<!doctype html><html><head>${policy}<meta charset="utf-8"></head><body>${html}</body></html>`,
  };
}
