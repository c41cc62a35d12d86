import { Dialog as Primitive } from 'radix-ui';
import { useState, type ReactNode } from 'react';
import { Button, IconButton } from './button';
import { Field, Input } from './field';
import { cx } from './cx';
import styles from './dialog.module.css';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** One sentence below the title. */
  intro?: ReactNode;
  children?: ReactNode;
  /** Buttons, the main one last. */
  foot?: ReactNode;
  wide?: boolean;
  /** True while leaving would lose what was typed: a click beside the dialog then does nothing. */
  keep?: boolean;
}

/**
 * Dialog is modal: the focus stays inside and returns to where it was. The scrim is our own element, since Radix's
 * overlay locks the scroll with an injected style, which the security policy refuses.
 */
export function Dialog({ open, onClose, title, intro, children, foot, wide, keep }: DialogProps) {
  return (
    <Primitive.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Primitive.Portal>
        <div className={styles.scrim} />
        <div className={styles.place}>
          <Primitive.Content
            className={cx(styles.dialog, wide && styles.wide)}
            {...(!intro && { 'aria-describedby': undefined })}
            onInteractOutside={(event) => keep && event.preventDefault()}
          >
            <div className={styles.head}>
              <Primitive.Title className={styles.title}>{title}</Primitive.Title>
              <Primitive.Close asChild>
                <IconButton icon="close" label="Close" tooltip={false} />
              </Primitive.Close>
            </div>
            {intro && (
              <Primitive.Description className={styles.intro} asChild>
                <div>{intro}</div>
              </Primitive.Description>
            )}
            {children && <div className={styles.body}>{children}</div>}
            {foot && <div className={styles.foot}>{foot}</div>}
          </Primitive.Content>
        </div>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

export interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  /** Names the thing: "Delete the webhook hooks.example.com?" */
  title: string;
  /** The consequence, in a sentence. */
  consequence: ReactNode;
  /** The verb: "Delete webhook". */
  action: string;
  onConfirm: () => void;
  busy?: boolean;
  /** Only for what cannot be undone: must be typed first. */
  type?: string;
}

/** ConfirmDialog asks before a destructive action that has no undo. Where there is one, act and show a toast. */
export function ConfirmDialog({ open, onClose, title, consequence, action, onConfirm, busy, type }: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const close = () => {
    setTyped('');
    onClose();
  };
  const allowed = type === undefined || typed.trim() === type;
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      intro={consequence}
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" disabled={!allowed} busy={busy === true} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {type !== undefined && (
        <Field label={`Type ${type} to confirm`}>
          <Input value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" />
        </Field>
      )}
    </Dialog>
  );
}
