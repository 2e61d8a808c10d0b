/** A user with a browser: follows redirects, keeps cookies, and fills in forms. */

const MAX_STEPS = 20;

export interface Visit {
  /** The last address. */
  readonly url: URL;
  readonly status: number;
  readonly text: string;
}

export interface VisitOptions {
  /** `refuse`: cancels where the server asks the user for consent. Default: agrees. */
  readonly consent?: 'refuse';
  /** Changes the address to which the authorization server sends the browser back. */
  readonly onReturn?: (url: URL) => URL;
}

/** Opens the address, logs in and agrees. Returns the page of the waiting program. */
export async function visit(address: URL, { consent, onReturn = (url) => url }: VisitOptions = {}): Promise<Visit> {
  const cookies = new Map<string, string>();
  let url = address;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < MAX_STEPS; step++) {
    const isBack = url.pathname === '/callback';
    if (isBack) url = onReturn(url);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (name !== undefined && value !== undefined) cookies.set(name, value);
    }
    const text = await response.text();
    const next = response.headers.get('location');
    form = undefined;
    if (next !== null) {
      url = new URL(next, url);
    } else if (isBack || !text.includes('<form')) {
      return { url, status: response.status, text };
    } else {
      const isConsent = text.includes('value="consent"');
      if (isConsent && consent === 'refuse') url = new URL(attribute(text, /href="([^"]+\/abort)"/), url);
      else {
        url = new URL(attribute(text, /<form[^>]* action="([^"]+)"/), url);
        form = new URLSearchParams(
          isConsent ? { prompt: 'consent' } : { prompt: 'login', login: 'ada', password: 'x' },
        );
      }
    }
  }
  throw new Error(`the browser was sent around ${MAX_STEPS} times`);
}

function attribute(page: string, pattern: RegExp): string {
  const found = pattern.exec(page)?.[1];
  if (found === undefined) throw new Error(`nothing like ${pattern} in the page: ${page.slice(0, 500)}`);
  return found.replaceAll('&amp;', '&');
}
