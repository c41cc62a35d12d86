import type { Editor } from '@tiptap/core';
import { DOMParser, Slice } from '@tiptap/pm/model';

/** The browser's parser that needs no trust: it drops scripts, and the security policy permits no other. */
type SafeParser = { parseHTML?: (html: string, options: { sanitizer: object }) => Document };

const kept = { attributes: ['href', 'data-field', 'data-fallback'], removeElements: ['head', 'style', 'title'] };

/** Styles and handlers of pasted HTML. The policy blocks them anyway, and the browser's console reports each. */
const blocked = /<style[\s\S]*?<\/style>|\s(?:on[a-z]+|style)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+)/gi;

/**
 * insertHtml puts pasted or dropped HTML where the selection is, reduced to what a mail can have. It returns false if
 * the browser has no safe parser; then the text is taken.
 */
export function insertHtml(editor: Editor, html: string): boolean {
  const { parseHTML } = Document as SafeParser;
  if (parseHTML === undefined || html === '') return false;
  const parsed = parseHTML.call(Document, html.replace(blocked, ''), { sanitizer: kept });
  const slice = DOMParser.fromSchema(editor.schema).parseSlice(parsed.body, { preserveWhitespace: false });
  const { tr } = editor.state;
  editor.view.dispatch(tr.replaceSelection(Slice.maxOpen(slice.content)).scrollIntoView().setMeta('uiEvent', 'paste'));
  return true;
}

/** insertText puts pasted text where the selection is: lines become paragraphs, as typed. */
export function insertText(editor: Editor, text: string): void {
  editor.view.pasteText(text);
}

/** filesOf returns the files of a paste or a drop. */
export function filesOf(data: DataTransfer | null): File[] {
  return data === null ? [] : [...data.files];
}
