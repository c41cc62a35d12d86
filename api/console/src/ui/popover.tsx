import { lazy, Suspense, useEffect, useState, type HTMLAttributes, type ReactElement, type ReactNode } from 'react';
import { Opener } from './opener';

export interface PopoverProps {
  trigger: ReactElement<HTMLAttributes<Element>>;
  children: ReactNode;
  label: string;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  align?: 'start' | 'center' | 'end';
  padded?: boolean;
}

const load = () => import('./popoverpopup');
const PopoverPopup = lazy(() => load().then((m) => ({ default: m.PopoverPopup })));

/** Popover holds a small form or an explanation beside its trigger. It is loaded before it is opened for the first time. */
export function Popover(props: PopoverProps) {
  const { trigger, open, onOpenChange } = props;
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    if (open) setAsked(true);
  }, [open]);
  const onOpen = () => {
    setAsked(true);
    onOpenChange?.(true);
  };
  const closed = <Opener trigger={trigger} popup="dialog" load={load} onOpen={onOpen} />;
  if (!asked && !open) return closed;
  return (
    <Suspense fallback={closed}>
      <PopoverPopup {...props} />
    </Suspense>
  );
}
