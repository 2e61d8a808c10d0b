/** Types for the used part of `saxen`, which has none. */
declare module 'saxen' {
  type Decode = (text: string) => string;

  export class Parser {
    ns(namespaces: Readonly<Record<string, string>>): this;
    on(
      event: 'openTag',
      handler: (name: string, attributes: () => Readonly<Record<string, string>>, decode: Decode) => void,
    ): this;
    on(event: 'closeTag', handler: (name: string) => void): this;
    on(event: 'text', handler: (text: string, decode: Decode) => void): this;
    on(event: 'cdata', handler: (text: string) => void): this;
    on(event: 'error', handler: (error: Error) => void): this;
    on(event: 'warn', handler: (warning: Error) => void): this;
    parse(xml: string): void;
  }
}
