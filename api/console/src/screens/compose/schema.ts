import {
  Extension,
  InputRule,
  Mark,
  markInputRule,
  Node,
  textblockTypeInputRule,
  wrappingInputRule,
  type AnyExtension,
} from '@tiptap/core';
import { history, redo, undo } from '@tiptap/pm/history';
import { fieldOf, fieldSource, typedField, type MergeField } from './fields';
import { safeLink } from './links';

// The blocks, marks and merge fields that a mail can have. Each is written as input.ts and output.ts know it.

const Doc = Node.create({ name: 'doc', topNode: true, content: 'block+' });

const Text = Node.create({ name: 'text', group: 'inline' });

const Paragraph = Node.create({
  name: 'paragraph',
  group: 'block',
  content: 'inline*',
  priority: 1000, // what a new block is
  parseHTML: () => [{ tag: 'p' }],
  renderHTML: () => ['p', 0],
});

const Heading = Node.create({
  name: 'heading',
  group: 'block',
  content: 'inline*',
  defining: true,
  addAttributes: () => ({ level: { default: 2, rendered: false } }),
  parseHTML: () => ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((tag) => ({ tag })),
  renderHTML: () => ['h2', 0],
  addKeyboardShortcuts() {
    return { 'Mod-Alt-2': () => this.editor.commands.toggleNode(this.name, 'paragraph') };
  },
  addInputRules() {
    return [textblockTypeInputRule({ find: /^##?\s$/, type: this.type })];
  },
});

/** list returns the node of a list whose lines begin with what find matches. */
function list(name: string, tag: 'ul' | 'ol', find: RegExp, keys: string) {
  return Node.create({
    name,
    group: 'block list',
    content: 'listItem+',
    parseHTML: () => [{ tag }],
    renderHTML: () => [tag, 0],
    addKeyboardShortcuts() {
      return { [keys]: () => this.editor.commands.toggleList(this.name, 'listItem') };
    },
    addInputRules() {
      return [wrappingInputRule({ find, type: this.type })];
    },
  });
}

/** Tab leaves the editor, as it leaves any field: lists are not nested. */
const ListItem = Node.create({
  name: 'listItem',
  content: 'paragraph+',
  defining: true,
  parseHTML: () => [{ tag: 'li' }],
  renderHTML: () => ['li', 0],
  addKeyboardShortcuts() {
    return {
      Enter: () => this.editor.commands.splitListItem(this.name),
      Backspace: () => {
        const { empty, $from } = this.editor.state.selection;
        const isAtStart = empty && $from.parentOffset === 0 && $from.node(-1)?.type === this.type;
        return isAtStart && $from.index(-1) === 0 && this.editor.commands.liftListItem(this.name);
      },
    };
  },
});

const Blockquote = Node.create({
  name: 'blockquote',
  group: 'block',
  content: 'block+',
  defining: true,
  parseHTML: () => [{ tag: 'blockquote' }],
  renderHTML: () => ['blockquote', 0],
  addKeyboardShortcuts() {
    return { 'Mod-Shift-b': () => this.editor.commands.toggleWrap(this.name) };
  },
  addInputRules() {
    return [wrappingInputRule({ find: /^\s*>\s$/, type: this.type })];
  },
});

const HardBreak = Node.create({
  name: 'hardBreak',
  group: 'inline',
  inline: true,
  selectable: false,
  linebreakReplacement: true,
  parseHTML: () => [{ tag: 'br' }],
  renderHTML: () => ['br'],
  renderText: () => '\n',
  addKeyboardShortcuts() {
    return { 'Shift-Enter': () => this.editor.commands.insertContent({ type: this.name }) };
  },
});

const Bold = Mark.create({
  name: 'bold',
  parseHTML: () => [{ tag: 'strong' }, { tag: 'b' }],
  renderHTML: () => ['strong', 0],
  addKeyboardShortcuts() {
    return { 'Mod-b': () => this.editor.commands.toggleMark(this.name) };
  },
  addInputRules() {
    return [markInputRule({ find: /(?:^|\s)(\*\*([^*\s][^*]*)\*\*)$/, type: this.type })];
  },
});

const Italic = Mark.create({
  name: 'italic',
  parseHTML: () => [{ tag: 'em' }, { tag: 'i' }],
  renderHTML: () => ['em', 0],
  addKeyboardShortcuts() {
    return { 'Mod-i': () => this.editor.commands.toggleMark(this.name) };
  },
});

const Link = Mark.create({
  name: 'link',
  inclusive: false,
  addAttributes: () => ({ href: { default: null } }),
  parseHTML: () => [
    {
      tag: 'a[href]',
      getAttrs: (element) => {
        const href = safeLink(element.getAttribute('href') ?? '');
        return href === null ? false : { href };
      },
    },
  ],
  // A link in the editor is text to edit: it leads nowhere, and its target is the browser's hint.
  renderHTML: ({ mark }) => ['span', { 'data-link': '', title: String(mark.attrs['href']) }, 0],
});

/** What the merge fields show: their name, and the class of the chip. */
export interface ChipLook {
  className: string;
  label: (field: MergeField) => string;
}

function field({ className, label }: ChipLook) {
  return Node.create({
    name: 'field',
    group: 'inline',
    inline: true,
    atom: true,
    selectable: true,
    addAttributes: () => ({ path: { default: '' }, fallback: { default: null } }),
    parseHTML: () => [
      {
        tag: 'span[data-field]',
        getAttrs: (element) => ({
          path: element.getAttribute('data-field') ?? '',
          fallback: element.getAttribute('data-fallback'),
        }),
      },
    ],
    renderHTML: ({ node }) => {
      const shown = node.attrs as MergeField;
      const { path, fallback } = shown;
      return [
        'span',
        { class: className, 'data-field': path, ...(fallback !== null && { 'data-fallback': fallback }) },
        label(shown),
      ];
    },
    renderText: ({ node }) => fieldSource(node.attrs as MergeField),
    addInputRules() {
      return [
        new InputRule({
          find: typedField,
          handler: ({ state, range, match }) => {
            state.tr.replaceWith(range.from, range.to, this.type.create(fieldOf(match)));
          },
        }),
      ];
    },
  });
}

const History = Extension.create({
  name: 'history',
  addProseMirrorPlugins: () => [history()],
  addKeyboardShortcuts() {
    const run = (command: typeof undo) => () => command(this.editor.state, this.editor.view.dispatch);
    // Ctrl Enter is the form's, which sends the mail.
    return { 'Mod-z': run(undo), 'Mod-y': run(redo), 'Mod-Shift-z': run(redo), 'Mod-Enter': () => true };
  },
});

/** schemaOf returns what the editor is made of. */
export function schemaOf(look: ChipLook): AnyExtension[] {
  return [
    Doc,
    Text,
    Paragraph,
    Heading,
    list('bulletList', 'ul', /^\s*[-*]\s$/, 'Mod-Shift-8'),
    list('orderedList', 'ol', /^1[.)]\s$/, 'Mod-Shift-7'),
    ListItem,
    Blockquote,
    HardBreak,
    Bold,
    Italic,
    Link,
    field(look),
    History,
  ];
}
