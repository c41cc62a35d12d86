import type { Editor } from '@tiptap/core';
import { NodeSelection } from '@tiptap/pm/state';
import { useEffect, useId, useImperativeHandle, useReducer, useRef, useState, type ReactNode, type Ref } from 'react';
import { useRead } from '@/lib/read';
import { cx } from '@/ui/cx';
import { useFieldError } from '@/ui/form';
import { Icon } from '@/ui/icon';
import field from '@/ui/field.module.css';
import { FieldBar, LinkBar } from './bars';
import { isEmpty, type Body, type Node } from './document';
import { contentOf, createEngine } from './engine';
import { fieldName, fieldSource, type MergeField } from './fields';
import { FieldMenu } from './fieldmenu';
import { t } from './messages';
import { Toolbar } from './toolbar';
import styles from './compose.module.css';

/** What a page can do with the editor of a body. */
export interface BodyHandle {
  focus: () => void;
  /** Puts another body there. Undo puts the old one back. */
  replace: (body: Body) => void;
}

export interface RichBodyProps {
  /** What is there at first. */
  initial: Body;
  onChange: (body: Body) => void;
  label?: string;
  /** The JSON pointer of the part in the request, for its error. */
  pointer?: string;
  placeholder?: string;
  autoFocus?: boolean;
  /** Takes files that are pasted or dropped. */
  onFiles?: (files: File[]) => void;
  /** Further controls at the end of the toolbar. */
  children?: ReactNode;
  ref?: Ref<BodyHandle>;
}

/** RichBody is the editor of a mail's body: text with a few blocks and merge fields. It is loaded where it is shown. */
export function RichBody(props: RichBodyProps) {
  const { initial, label = t('body'), pointer, placeholder = t('write'), autoFocus = false, children, ref } = props;
  const own = useId();
  const error = useFieldError(pointer);
  const id = error?.id ?? own;
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [editor, setEditor] = useState<Editor | null>(null);
  const [linking, setLinking] = useState(false);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const names = useFieldNames();
  const nameOf = useRef(names);
  nameOf.current = names;
  useEffect(() => {
    if (box.current === null) return;
    const made = createEngine({
      element: box.current,
      body: latest.current.initial,
      look: { className: styles.chip ?? '', label: (one) => chipText(one, nameOf.current) },
      attributes: { id, class: styles.content ?? '', 'aria-label': label, 'aria-multiline': 'true' },
      onChange: (body) => latest.current.onChange(body),
      onFiles: (files) => latest.current.onFiles?.(files),
      onLink: () => setLinking(true),
      autoFocus,
    });
    made.on('transaction', redraw);
    setEditor(made);
    return () => made.destroy();
  }, [id, label, autoFocus]);
  useImperativeHandle(
    ref,
    () => ({
      focus: () => void editor?.commands.focus('end'),
      replace: (body) => void editor?.chain().setContent(contentOf(body), { emitUpdate: true }).focus('end').run(),
    }),
    [editor],
  );
  const chip = editor === null ? null : chipOf(editor);
  return (
    <div className={cx(styles.rich, error?.detail !== undefined && styles.invalid)}>
      {editor !== null && (
        <div className={styles.toolrow}>
          <Toolbar editor={editor} controls={id} onLink={() => setLinking(true)} />
          <FieldMenu
            custom={names}
            onInsert={(one) => editor.chain().focus().insertContent(contentOf(insertionOf(one))).run()}
            returnTo={() => editor.view.dom}
          />
          {children}
        </div>
      )}
      <div ref={box} className={styles.paper}>
        {isEmpty(editor === null ? initial : (editor.getJSON() as Body)) && (
          <span className={styles.placeholder} aria-hidden="true">
            {placeholder}
          </span>
        )}
      </div>
      {editor !== null && linking && (
        <LinkBar
          editor={editor}
          onClose={() => {
            setLinking(false);
            editor.commands.focus();
          }}
        />
      )}
      {editor !== null && !linking && chip !== null && (
        <FieldBar editor={editor} field={chip} name={fieldName(chip.path, names)} />
      )}
      {error?.detail !== undefined && (
        <p className={field.error} id={`${id}-error`}>
          <Icon name="error" />
          {error.detail}
        </p>
      )}
    </div>
  );
}

/** insertionOf returns a merge field as it goes into the text: as a chip, or for the service's pages as a link. */
function insertionOf(one: MergeField): Node {
  const text = { unsubscribe_url: t('unsubscribe'), preferences_url: t('preferences') }[one.path];
  if (text === undefined) return { type: 'field', attrs: { ...one } };
  return { type: 'text', text, marks: [{ type: 'link', attrs: { href: fieldSource(one) } }] };
}

/** chipOf returns the merge field that is selected, or null. */
function chipOf(editor: Editor): MergeField | null {
  const { selection } = editor.state;
  return selection instanceof NodeSelection && selection.node.type.name === 'field'
    ? (selection.node.attrs as MergeField)
    : null;
}

/** chipText returns what the chip of a merge field shows. */
function chipText({ path, fallback }: MergeField, names: ReadonlyMap<string, string>): string {
  const name = fieldName(path, names);
  return fallback === null ? name : t('orElse', { name, fallback });
}

/** useFieldNames returns the names of the org's own fields of contacts, by key. */
function useFieldNames(): ReadonlyMap<string, string> {
  const custom = useRead('/api/v1/crm/fields', { query: { limit: 200 } });
  return new Map((custom.data?.data ?? []).map((one) => [one.key, one.label]));
}
