import { useEffect, useId, useRef, type ReactNode } from 'react';
import { IconButton } from './button';
import styles from './dialog.module.css';

export interface SidePanelProps {
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
  /** Opens the same as a full page. */
  onExpand?: () => void;
  onPrevious?: (() => void) | undefined;
  onNext?: (() => void) | undefined;
  actions?: ReactNode;
  /** The accessible name where title is not plain text. */
  label?: string;
}

/**
 * SidePanel shows one record beside its list. It is not modal: the list stays usable. Mount it only while it is open.
 * Esc closes it, [ and ] go to the neighbours, and the focus returns to where it was.
 */
export function SidePanel(props: SidePanelProps) {
  const { title, onClose, children, onExpand, onPrevious, onNext, actions, label } = props;
  const panel = useRef<HTMLElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside
      className={styles.panel}
      ref={panel}
      tabIndex={-1}
      {...(label === undefined ? { 'aria-labelledby': id } : { 'aria-label': label })}
      onKeyDown={(event) => {
        if (event.defaultPrevented || isField(event.target)) return;
        if (!event.currentTarget.contains(event.target as Node)) return; // in a dialog that the panel has opened
        const act = { Escape: onClose, '[': onPrevious, ']': onNext }[event.key];
        if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        act();
      }}
    >
      <div className={styles.panelHead}>
        <div className={styles.panelTitle} id={id}>
          {title}
        </div>
        {actions}
        {(onPrevious ?? onNext) && (
          <>
            <IconButton icon="up" label="Previous" keys="[" onClick={onPrevious} disabled={onPrevious === undefined} />
            <IconButton icon="down" label="Next" keys="]" onClick={onNext} disabled={onNext === undefined} />
          </>
        )}
        {onExpand && <IconButton icon="external" label="Open as a page" onClick={onExpand} />}
        <IconButton icon="close" label="Close" keys="esc" onClick={onClose} />
      </div>
      <div className={styles.panelBody}>{children}</div>
    </aside>
  );
}

function isField(target: EventTarget): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
