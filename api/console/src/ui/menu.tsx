import { lazy, Suspense, useEffect, useState, type HTMLAttributes, type ReactElement, type ReactNode } from 'react';
import type { IconName } from './icon';
import { Opener } from './opener';

export interface MenuItem {
  label: ReactNode;
  onSelect: () => void;
  icon?: IconName;
  keys?: string;
  /** Destructive: shown last and red. Ask before doing it if it cannot be undone. */
  danger?: boolean;
  disabled?: boolean;
  /** Set for a choice: shows a tick at the chosen one. */
  checked?: boolean;
}

/** A string is a heading; null is a line. */
export type MenuEntry = MenuItem | string | null;

export interface MenuProps {
  trigger: ReactElement<HTMLAttributes<Element>>;
  items: readonly MenuEntry[];
  align?: 'start' | 'end';
  side?: 'top' | 'bottom' | 'right';
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  /** Takes the focus when the menu closes, instead of the trigger. */
  returnTo?: () => HTMLElement | null;
}

const load = () => import('./menupopup');
const MenuPopup = lazy(() => load().then((m) => ({ default: m.MenuPopup })));

/** Menu opens actions from a button. Its popup is loaded before it is opened for the first time. */
export function Menu(props: MenuProps) {
  const { trigger, open, onOpenChange } = props;
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    if (open) setAsked(true);
  }, [open]);
  const onOpen = () => {
    setAsked(true);
    onOpenChange?.(true);
  };
  const closed = <Opener trigger={trigger} popup="menu" load={load} onOpen={onOpen} />;
  if (!asked && !open) return closed;
  return (
    <Suspense fallback={closed}>
      <MenuPopup {...props} />
    </Suspense>
  );
}
