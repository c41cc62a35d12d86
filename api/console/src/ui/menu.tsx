import { DropdownMenu } from 'radix-ui';
import { Fragment, type ReactElement, type ReactNode } from 'react';
import { Icon, type IconName } from './icon';
import { KeyHint } from './keyhint';
import { cx } from './cx';
import styles from './float.module.css';

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
  trigger: ReactElement;
  items: readonly MenuEntry[];
  align?: 'start' | 'end';
  side?: 'top' | 'bottom' | 'right';
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  /** Takes the focus when the menu closes, instead of the trigger. */
  returnTo?: () => HTMLElement | null;
}

/** Menu opens actions from a button. It is not modal: the page behind it stays scrollable, and no style is injected. */
export function Menu(props: MenuProps) {
  const { trigger, items, align = 'start', side = 'bottom', open, onOpenChange, returnTo } = props;
  return (
    <DropdownMenu.Root modal={false} {...(open !== undefined && { open })} {...(onOpenChange && { onOpenChange })}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className={cx(styles.float, styles.list)}
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            const element = returnTo?.();
            if (!element) return;
            event.preventDefault();
            element.focus({ preventScroll: true });
          }}
        >
          {items.map((entry, i) => (
            <Fragment key={i}>{show(entry)}</Fragment>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function show(entry: MenuEntry): ReactNode {
  if (entry === null) return <DropdownMenu.Separator className={styles.rule} />;
  if (typeof entry === 'string') return <DropdownMenu.Label className={styles.heading}>{entry}</DropdownMenu.Label>;
  const shared = {
    className: cx(styles.item, entry.danger && styles.danger),
    disabled: entry.disabled === true,
    onSelect: entry.onSelect,
  };
  const content = (
    <>
      {entry.icon && <Icon name={entry.icon} />}
      <span className={styles.text}>{entry.label}</span>
      {entry.keys && <KeyHint keys={entry.keys} />}
      {entry.checked && <Icon name="check" />}
    </>
  );
  if (entry.checked === undefined) return <DropdownMenu.Item {...shared}>{content}</DropdownMenu.Item>;
  return (
    <DropdownMenu.CheckboxItem {...shared} checked={entry.checked}>
      {content}
    </DropdownMenu.CheckboxItem>
  );
}
