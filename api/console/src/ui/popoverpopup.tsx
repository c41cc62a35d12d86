import { Popover as Primitive } from 'radix-ui';
import type { PopoverProps } from './popover';
import { cx } from './cx';
import styles from './float.module.css';

/** PopoverPopup is a Popover that was opened. */
export function PopoverPopup(props: PopoverProps) {
  const { trigger, children, label, open, onOpenChange, align = 'start', padded = true } = props;
  return (
    <Primitive.Root
      {...(open === undefined ? { defaultOpen: true } : { open })}
      {...(onOpenChange && { onOpenChange })}
    >
      <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          className={cx(styles.float, padded && styles.padded)}
          aria-label={label}
          align={align}
          sideOffset={4}
          collisionPadding={8}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
