import { Dialog as Primitive } from 'radix-ui';
import { IconButton } from './button';
import type { DialogProps } from './dialog';
import { cx } from './cx';
import styles from './dialog.module.css';

/**
 * DialogBox is a Dialog that was opened. The scrim is our own element, since Radix's
 * overlay locks the scroll with an injected style, which the security policy refuses.
 */
export function DialogBox({ open, onClose, title, intro, children, foot, wide, keep }: DialogProps) {
  return (
    <Primitive.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Primitive.Portal>
        <div className={styles.scrim} />
        <div className={styles.place}>
          <Primitive.Content
            className={cx(styles.dialog, wide && styles.wide)}
            {...(!intro && { 'aria-describedby': undefined })}
            onInteractOutside={(event) => keep && event.preventDefault()}
          >
            <div className={styles.head}>
              <Primitive.Title className={styles.title}>{title}</Primitive.Title>
              <Primitive.Close asChild>
                <IconButton icon="close" label="Close" tooltip={false} />
              </Primitive.Close>
            </div>
            {intro && (
              <Primitive.Description className={styles.intro} asChild>
                <div>{intro}</div>
              </Primitive.Description>
            )}
            {children && <div className={styles.body}>{children}</div>}
            {foot && <div className={styles.foot}>{foot}</div>}
          </Primitive.Content>
        </div>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
