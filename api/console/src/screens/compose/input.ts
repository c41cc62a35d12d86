import { bodyOf, inline, type Body, type Mark, type Node } from './document';
import { safeLink } from './links';

// HTML that the composer has written, as a body again. Anything else is not read: an editor that changes what it does
// not know would break the mail.

type Token = { open: string; href: string | null } | { close: string } | { text: string };

const pattern = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+="[^"]*")*)\s*\/?>|([^<]+)/gy;
const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
};
const marks: Readonly<Record<string, string>> = { strong: 'bold', b: 'bold', em: 'italic', i: 'italic', a: 'link' };
const blocks: Readonly<Record<string, string>> = {
  p: 'paragraph',
  h2: 'heading',
  ul: 'bulletList',
  ol: 'orderedList',
  li: 'listItem',
  blockquote: 'blockquote',
};
const inside: Readonly<Record<string, readonly string[]>> = {
  '': ['p', 'h2', 'ul', 'ol', 'blockquote'],
  ul: ['li'],
  ol: ['li'],
  li: ['p'],
  blockquote: ['p', 'h2', 'ul', 'ol'],
};

/** htmlToBody returns the HTML as a body; null if it has what the composer does not write. */
export function htmlToBody(html: string): Body | null {
  const tokens = tokensOf(html);
  return tokens === null ? null : new Reader(tokens).read();
}

function tokensOf(html: string): Token[] | null {
  const tokens: Token[] = [];
  let end = 0;
  for (const match of html.matchAll(pattern)) {
    const [whole, slash, name = '', attributes = '', text] = match;
    end = match.index + whole.length;
    if (text !== undefined) {
      const plain = decode(text);
      if (plain === null) return null;
      tokens.push({ text: plain });
    } else if (slash === '/') tokens.push({ close: name });
    else {
      const href = /^\s+href="([^"]*)"$/.exec(attributes)?.[1] ?? null;
      const target = href === null ? null : decode(href);
      if ((attributes !== '' && target === null) || (name === 'a') !== (target !== null)) return null;
      if (target !== null && safeLink(target) === null) return null;
      tokens.push({ open: name, href: target });
    }
  }
  return end === html.length ? tokens : null;
}

function decode(text: string): string | null {
  let known = true;
  const plain = text.replace(/&(?:#?\w+;)?/g, (entity) => {
    known &&= entity in entities;
    return entities[entity] ?? '';
  });
  return known ? plain : null;
}

/** Reader reads the blocks of tokens, in order. */
class Reader {
  #at = 0;
  #fits = true;

  constructor(readonly tokens: readonly Token[]) {}

  read(): Body | null {
    const content = this.#blocks('');
    return this.#fits && this.#at === this.tokens.length ? bodyOf(content) : null;
  }

  #next(): Token | undefined {
    return this.tokens[this.#at];
  }

  /** #blocks returns the blocks up to the end of the block they are in. */
  #blocks(parent: string): Node[] {
    const list: Node[] = [];
    for (let token = this.#next(); token !== undefined && this.#fits; token = this.#next()) {
      if ('close' in token) break;
      if ('text' in token && token.text.trim() === '') this.#at++;
      else if ('open' in token && inside[parent]?.includes(token.open)) list.push(this.#block(token.open));
      else this.#fits = false;
    }
    return list;
  }

  #block(name: string): Node {
    this.#at++;
    const type = blocks[name] ?? '';
    const isText = name === 'p' || name === 'h2';
    let content = isText || (name === 'li' && !this.#hasBlock()) ? this.#inline([]) : this.#blocks(name);
    const only = content[0];
    if (isText && content.length === 1 && only?.type === 'hardBreak') content = []; // an empty paragraph
    if (name === 'li' && only?.type !== 'paragraph') content = [textBlock('paragraph', content)];
    if (!isText && content.length === 0) this.#fits = false;
    this.#end(name);
    return isText ? textBlock(type, content) : { type, content };
  }

  /** #hasBlock reports whether a paragraph begins here. */
  #hasBlock(): boolean {
    const token = this.#next();
    return token !== undefined && 'open' in token && token.open === 'p';
  }

  #end(name: string): void {
    const token = this.#next();
    if (token === undefined || !('close' in token) || token.close !== name) this.#fits = false;
    else this.#at++;
  }

  #inline(within: readonly Mark[]): Node[] {
    const list: Node[] = [];
    for (let token = this.#next(); token !== undefined && this.#fits; token = this.#next()) {
      if ('close' in token) break;
      this.#at++;
      if ('text' in token) list.push(...inline(token.text.replace(/[ \t\n]+/g, ' '), within));
      else if (token.open === 'br') list.push({ type: 'hardBreak' });
      else {
        const type = marks[token.open];
        if (type === undefined) this.#fits = false;
        else {
          const mark: Mark = { type, ...(token.href !== null && { attrs: { href: token.href } }) };
          list.push(...this.#inline([...within, mark]));
          this.#end(token.open);
        }
      }
    }
    return list;
  }
}

function textBlock(type: string, content: readonly Node[]): Node {
  return {
    type,
    ...(type === 'heading' && { attrs: { level: 2 } }),
    ...(content.length > 0 && { content }),
  };
}
