import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Button, IconButton } from './button';
import { Icon } from './icon';
import { cx } from './cx';
import styles from './toast.module.css';

export interface Toast {
  title: string;
  detail?: string;
  kind?: 'good' | 'bad' | 'plain';
  /** For an error: what support asks for. */
  requestId?: string;
  onUndo?: () => void;
  /** Another action instead of undo. */
  action?: { label: string; onClick: () => void };
}

type Shown = Toast & { id: number };

const shownFor = 5000; // errors stay until they are closed
let all: readonly Shown[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly Shown[]): void {
  all = next;
  listeners.forEach((listener) => listener());
}

/** toast shows a message at the bottom left and returns a function that takes it back. At most four are shown. */
export function toast(message: Toast): () => void {
  const id = ++last;
  set([...all, { ...message, id }].slice(-4));
  return () => dismiss(id);
}

const dismiss = (id: number) => set(all.filter((one) => one.id !== id));

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Toasts is where they appear. The shell mounts it once. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => all);
  return (
    <section className={styles.list} aria-label="Messages" aria-live="polite" tabIndex={-1}>
      {toasts.map((one) => (
        <One key={one.id} one={one} />
      ))}
    </section>
  );
}

function One({ one }: { one: Shown }) {
  const [held, setHeld] = useState(false);
  const left = useRef(shownFor);
  useEffect(() => {
    if (held || one.kind === 'bad') return;
    const since = performance.now();
    const timer = setTimeout(() => dismiss(one.id), left.current);
    return () => {
      clearTimeout(timer);
      left.current -= performance.now() - since;
    };
  }, [held, one.id, one.kind]);
  const action = one.onUndo ? { label: 'Undo', onClick: one.onUndo } : one.action;
  return (
    <div
      className={styles.toast}
      role={one.kind === 'bad' ? 'alert' : undefined}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span className={cx(styles.mark, styles[one.kind ?? 'good'])}>
        <Icon name={one.kind === 'bad' ? 'error' : one.kind === 'plain' ? 'info' : 'check'} />
      </span>
      <div>
        <div className={styles.title}>{one.title}</div>
        {one.detail && <div className={styles.detail}>{one.detail}</div>}
        {one.requestId && (
          <div className={styles.detail}>
            <code>{one.requestId}</code>
          </div>
        )}
      </div>
      <div className={styles.actions}>
        {action && (
          <Button
            kind="quiet"
            size="small"
            onClick={() => {
              dismiss(one.id);
              action.onClick();
            }}
          >
            {action.label}
          </Button>
        )}
        <IconButton icon="close" label="Dismiss" tooltip={false} onClick={() => dismiss(one.id)} />
      </div>
    </div>
  );
}
