import { Editor, type JSONContent } from '@tiptap/core';
import type { Body, Node } from './document';
import { filesOf, insertHtml, insertText } from './paste';
import { schemaOf, type ChipLook } from './schema';

export interface EngineOptions {
  element: HTMLElement;
  body: Body;
  look: ChipLook;
  attributes: Record<string, string>;
  onChange: (body: Body) => void;
  onFiles: (files: File[]) => void;
  onLink: () => void;
  autoFocus: boolean;
}

/** contentOf returns a node as the editor's commands take it. */
export function contentOf(node: Node): JSONContent {
  return node as JSONContent;
}

/**
 * createEngine makes the editor in an element. Its content is JSON, never HTML: the security policy permits no parsing
 * of HTML that the page has not made safe, which is why pasting is ours too.
 */
export function createEngine(options: EngineOptions): Editor {
  const take = (data: DataTransfer | null): boolean => {
    const files = filesOf(data);
    const text = data?.getData('text/plain') ?? '';
    const html = data?.getData('text/html') ?? '';
    if (files.length > 0 && html === '') options.onFiles(files);
    else if (!insertHtml(engine, html)) insertText(engine, text);
    return true;
  };
  const engine: Editor = new Editor({
    element: options.element,
    content: contentOf(options.body),
    extensions: schemaOf(options.look),
    injectCSS: false,
    autofocus: options.autoFocus ? 'end' : false,
    editorProps: {
      attributes: options.attributes,
      handleKeyDown: (_, event) => {
        if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return false;
        options.onLink();
        event.preventDefault();
        return true;
      },
      handleDOMEvents: {
        paste: (_, event) => {
          event.preventDefault();
          return take(event.clipboardData);
        },
        drop: (view, event) => {
          if (view.dragging !== null) return false; // what is moved within the editor
          event.preventDefault();
          const at = view.posAtCoords({ left: event.clientX, top: event.clientY });
          if (at !== null) engine.commands.setTextSelection(at.pos);
          return take(event.dataTransfer);
        },
      },
    },
    onUpdate: ({ editor }) => options.onChange(editor.getJSON() as Body),
  });
  return engine;
}
