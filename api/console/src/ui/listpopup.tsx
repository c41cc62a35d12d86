import { Popover } from 'radix-ui';
import type { ReactNode, RefObject } from 'react';
import { cx } from './cx';
import float from './float.module.css';
import styles from './select.module.css';

/** ListPopup is the list of a Select or Combobox while it is open, at its anchor, which keeps the focus. */
export function ListPopup({ anchor, setOpen, children }: {
  anchor: RefObject<HTMLElement | null>;
  setOpen: (open: boolean) => void;
  children: ReactNode;
}) {
  return (
    <Popover.Root open onOpenChange={setOpen}>
      <Popover.Anchor virtualRef={anchor as RefObject<HTMLElement>} />
      <Popover.Portal>
        <Popover.Content
          className={cx(float.float, styles.surface)}
          role="presentation"
          align="start"
          sideOffset={4}
          collisionPadding={8}
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
          onInteractOutside={(event) => {
            if (event.target instanceof Node && anchor.current?.contains(event.target)) event.preventDefault();
          }}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
