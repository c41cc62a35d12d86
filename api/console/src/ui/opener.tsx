import { cloneElement, type HTMLAttributes, type KeyboardEvent, type MouseEvent, type ReactElement } from 'react';

/**
 * Opener is the trigger of a popup that is not loaded yet. It loads it when the pointer or the focus comes near, and
 * asks for it on a click. So what a popup needs is no part of a first load, and a row of a table costs no popup.
 */
export function Opener({ trigger, popup, load, onOpen }: {
  /** An element that passes handlers on. */
  trigger: ReactElement<HTMLAttributes<Element>>;
  popup: 'menu' | 'dialog';
  load: () => Promise<unknown>;
  onOpen: () => void;
}) {
  const { props } = trigger;
  const preload = () => void load().catch(() => {}); // the click loads it again
  return cloneElement(trigger, {
    'aria-haspopup': popup,
    'aria-expanded': false,
    onPointerEnter: (event) => {
      props.onPointerEnter?.(event);
      preload();
    },
    onFocus: (event) => {
      props.onFocus?.(event);
      preload();
    },
    onClick: (event: MouseEvent<Element>) => {
      props.onClick?.(event);
      if (!event.defaultPrevented) onOpen();
    },
    onKeyDown: (event: KeyboardEvent<Element>) => {
      props.onKeyDown?.(event);
      if (popup !== 'menu' || event.key !== 'ArrowDown' || event.defaultPrevented) return;
      event.preventDefault();
      onOpen();
    },
  });
}
