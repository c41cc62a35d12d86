import { DropdownMenu } from 'radix-ui';
import { Fragment, type ReactNode } from 'react';
import { Icon } from './icon';
import { KeyHint } from './keyhint';
import type { MenuEntry, MenuProps } from './menu';
import { cx } from './cx';
import styles from './float.module.css';

/** MenuPopup is a Menu that was opened. It is not modal: the page behind it stays scrollable, and no style is injected. */
export function MenuPopup(props: MenuProps) {
  const { trigger, items, align = 'start', side = 'bottom', open, onOpenChange, returnTo } = props;
  return (
    <DropdownMenu.Root
      modal={false}
      {...(open === undefined ? { defaultOpen: true } : { open })}
      {...(onOpenChange && { onOpenChange })}
    >
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
