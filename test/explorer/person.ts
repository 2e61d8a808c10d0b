/** A person at a browser who has a keyboard and no mouse, and sees the page. */
import { until } from '../e2e/waiting.ts';

/** The part of a page that Playwright and Puppeteer share. */
export interface Driven {
  readonly keyboard: {
    down(key: never): Promise<void>;
    up(key: never): Promise<void>;
    press(key: never): Promise<void>;
    type(text: string): Promise<void>;
  };
  goto(address: string): Promise<unknown>;
  url(): string;
  evaluate<T, A>(script: (arg: A) => T, arg: A): Promise<T>;
}

/** The most times that a person presses Tab to reach an element. */
const MOST_TABS = 120;

export class Person {
  readonly #page: Driven;
  readonly #origin: string;

  /** @param origin of the explorer */
  constructor(page: Driven, origin: string) {
    this.#page = page;
    this.#origin = origin;
  }

  /** Types an address. Resolves when the script of the page has taken over. */
  async visits(path: string): Promise<void> {
    await this.#page.goto(new URL(path, this.#origin).href);
    await this.sees('.island');
  }

  async presses(...keys: readonly string[]): Promise<void> {
    const { keyboard } = this.#page;
    for (const key of keys) {
      const [modifier, together] = /^(Control|Shift)\+(.+)$/.exec(key)?.slice(1) ?? [];
      if (modifier !== undefined) await keyboard.down(modifier as never);
      await keyboard.press((together ?? key) as never);
      if (modifier !== undefined) await keyboard.up(modifier as never);
    }
  }

  async types(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
  }

  /** Waits until this element is there, and presses Tab until it has the focus. */
  async tabsTo(selector: string): Promise<void> {
    const isThere = (wanted: string): boolean => document.querySelector(wanted) !== null;
    await until(() => this.#asks(isThere, selector), selector);
    for (let times = 0; times < MOST_TABS; times++) {
      const there = await this.#asks((wanted) => document.activeElement?.matches(wanted) === true, selector);
      if (there) return;
      await this.presses('Tab');
    }
    throw new Error(`Tab does not lead to ${selector}`);
  }

  /** Waits until there is an element with a box, and with the text. */
  async sees(selector: string, text = ''): Promise<void> {
    await until(() => this.#shows(selector, text), `${selector} with "${text}"`).catch(async (error: Error) => {
      throw new Error(`${error.message} at ${this.#page.url()}, where this is: ${await this.text()}`);
    });
  }

  /** Waits until this is among the proposed values of a field. */
  async offered(value: string): Promise<void> {
    const among = (wanted: string): boolean =>
      [...document.querySelectorAll('datalist option')].some((each) => each.getAttribute('value') === wanted);
    await until(() => this.#asks(among, value), `${value} among the proposals`);
  }

  /** Waits until there is no such element. */
  async missesNow(selector: string, text = ''): Promise<void> {
    await until(async () => !(await this.#shows(selector, text)), `no ${selector} with "${text}"`);
  }

  async focused(): Promise<string> {
    return (await this.#asks(() => document.activeElement?.textContent?.trim(), undefined)) ?? '';
  }

  /** The whole text of the page. */
  async text(): Promise<string> {
    return (await this.#asks(() => document.body.innerText, undefined)) ?? '';
  }

  /** Waits until the address matches. */
  async isAt(address: RegExp): Promise<void> {
    await until(() => address.test(this.#page.url()), `an address like ${address}, and not ${this.#page.url()}`);
  }

  #shows(selector: string, text: string): Promise<boolean> {
    return this.#asks(
      (wanted) =>
        [...document.querySelectorAll(wanted.selector)].some(
          (each) => each.getClientRects().length > 0 && (each.textContent ?? '').includes(wanted.text),
        ),
      { selector, text },
    ).then((shown) => shown === true);
  }

  /** Runs the script in the page. Undefined while the browser goes from one page to another. */
  async #asks<T, A>(script: (arg: A) => T, arg: A): Promise<T | undefined> {
    return await this.#page.evaluate(script, arg).catch((error: unknown) => {
      if (/context|navigat|frame|destroyed/i.test(String(error))) return undefined;
      throw error;
    });
  }
}
