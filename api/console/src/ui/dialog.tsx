import { useState, type ReactNode } from 'react';
import { Button } from './button';
import { Field, Input } from './field';
import { later } from './later';

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

const DialogBox = later(() => import('./dialogbox').then((m) => m.DialogBox));

/** Dialog is modal: the focus stays inside and returns to where it was. It is loaded when it is first opened. */
export function Dialog(props: DialogProps) {
  const [opened, setOpened] = useState(props.open);
  if (props.open && !opened) setOpened(true);
  return opened && <DialogBox {...props} />;
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
