/** Shows HTML of a server in a frame without scripts, forms, network and access to the page around it. */

/** The content security policy of the document in the frame: it loads only `data:` URIs and inline styles. */
export const SANDBOX_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; form-action 'none'; base-uri 'none'";

/** Attributes of an `iframe` element. Set all of them. */
export interface SandboxFrame {
  /** Empty: every restriction holds. Set it before `srcdoc`. */
  readonly sandbox: '';
  readonly referrerpolicy: 'no-referrer';
  readonly srcdoc: string;
}

/**
 * Returns the attributes of an `iframe` that shows HTML in isolation (SEC-RES-7). It has an origin of its own, no scripts, no
 * forms and no popups. Its content security policy allows no requests, so nobody learns that the user looks at it.
 *
 * @example
 * const frame = document.createElement('iframe');
 * for (const [name, value] of Object.entries(sandboxFrame(html))) frame.setAttribute(name, value);
 */
export function sandboxFrame(html: string): SandboxFrame {
  // The policy comes before everything that the server wrote, since it applies only to what follows it.
  const policy = `<meta http-equiv="Content-Security-Policy" content="${SANDBOX_POLICY}">`;
  return {
    sandbox: '',
    referrerpolicy: 'no-referrer',
    srcdoc: `<!doctype html><html><head>${policy}<meta charset="utf-8"></head><body>${html}</body></html>`,
  };
}
