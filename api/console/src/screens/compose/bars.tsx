import type { Editor } from '@tiptap/core';
import { useEffect, useId, useState, type KeyboardEvent } from 'react';
import { Button } from '@/ui/button';
import { Input } from '@/ui/field';
import { cleanFallback, type MergeField } from './fields';
import { typedLink } from './links';
import { t } from './messages';
import styles from './compose.module.css';

/** onEnter returns a handler that acts on Enter, which would otherwise send the mail. */
function onEnter(act: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  };
}

/** LinkBar is below the text while a link is set. */
export function LinkBar({ editor, onClose }: { editor: Editor; onClose: () => void }) {
  const id = useId();
  const [now] = useState(() => String(editor.getAttributes('link')['href'] ?? ''));
  const [text, setText] = useState(now);
  const [isWrong, setWrong] = useState(false);
  const set = () => {
    const href = typedLink(text);
    if (href === null) {
      setWrong(true);
      return;
    }
    const chain = editor.chain().focus();
    if (editor.state.selection.empty && now === '') {
      chain.insertContent({ type: 'text', text: text.trim(), marks: [{ type: 'link', attrs: { href } }] }).run();
    } else chain.extendMarkRange('link').setMark('link', { href }).run();
    onClose();
  };
  const remove = () => {
    editor.chain().focus().extendMarkRange('link').unsetMark('link').run();
    onClose();
  };
  return (
    <div className={styles.bar} role="group" aria-label={t('link')}>
      <label htmlFor={id}>{t('linkTo')}</label>
      <Input
        id={id}
        autoFocus
        inputMode="url"
        placeholder={t('linkPlaceholder')}
        value={text}
        aria-invalid={isWrong || undefined}
        aria-describedby={isWrong ? `${id}-error` : undefined}
        onChange={(event) => {
          setText(event.target.value);
          setWrong(false);
        }}
        onKeyDown={onEnter(set)}
      />
      <Button size="small" onClick={set}>
        {t('setLink')}
      </Button>
      {now !== '' && (
        <Button size="small" kind="quiet" onClick={remove}>
          {t('removeLink')}
        </Button>
      )}
      {isWrong && (
        <p className={styles.wrong} id={`${id}-error`} role="alert">
          {t('noLink')}
        </p>
      )}
    </div>
  );
}

/** FieldBar is below the text while a merge field is selected: what is written for a contact without its value. */
export function FieldBar({ editor, field, name }: { editor: Editor; field: MergeField; name: string }) {
  const id = useId();
  const [text, setText] = useState(field.fallback ?? '');
  const { path } = field;
  useEffect(() => setText(field.fallback ?? ''), [path, field.fallback]);
  const set = (next: string) => {
    const clean = cleanFallback(next);
    setText(clean);
    editor.commands.updateAttributes('field', { fallback: clean === '' ? null : clean });
  };
  return (
    <div className={styles.bar} role="group" aria-label={name}>
      <label htmlFor={id}>{t('fallbackOf', { name })}</label>
      <Input
        id={id}
        value={text}
        maxLength={200}
        aria-describedby={`${id}-help`}
        onChange={(event) => set(event.target.value)}
        onKeyDown={onEnter(() => editor.commands.focus())}
      />
      <Button size="small" kind="quiet" onClick={() => editor.chain().focus().deleteSelection().run()}>
        {t('removeField')}
      </Button>
      <p className={styles.hint} id={`${id}-help`}>
        {t('fallbackHelp')}
      </p>
    </div>
  );
}
