import type { ComponentProps, ReactNode } from 'react';
import { KeyHint } from './keyhint';
import { Icon, type IconName } from './icon';
import { Tooltip } from './tooltip';
import { cx } from './cx';
import styles from './button.module.css';

interface Look {
  /** primary: the one main action of a page or dialog. danger: its destructive form. quiet: without an edge. */
  kind?: 'plain' | 'primary' | 'quiet' | 'danger';
  size?: 'normal' | 'small';
}

export interface ButtonProps extends Look, Omit<ComponentProps<'button'>, 'children'> {
  children: ReactNode;
  icon?: IconName;
  /** An icon after the label, as for a menu. */
  after?: IconName;
  /** The action runs: shows a ring, ignores clicks, keeps focus. */
  busy?: boolean;
}

/** Button has a verb as its label. It is of type "button" unless it submits a form. */
export function Button({ kind, size, icon, after, busy = false, children, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={cx(buttonLook({ kind, size }), busy && styles.busy, className)}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : rest.onClick}
    >
      {busy && <span className={styles.ring} aria-hidden="true" />}
      {icon && <Icon name={icon} />}
      <span className={styles.label}>{children}</span>
      {after && <Icon name={after} size={12} />}
    </button>
  );
}

export interface IconButtonProps extends Look, Omit<ComponentProps<'button'>, 'children'> {
  icon: IconName;
  /** What the button does, for the tooltip and for screen readers. */
  label: string;
  /** The key that does the same, shown in the tooltip. */
  keys?: string;
  /** False where the label is visible beside the button. */
  tooltip?: boolean;
}

/** IconButton is a square button without a visible label. */
export function IconButton({ icon, label, keys, tooltip = true, className, ...rest }: IconButtonProps) {
  const { kind = 'quiet', size = 'small', ...props } = rest;
  const button = (
    <button
      type="button"
      aria-label={label}
      {...props}
      className={cx(buttonLook({ kind, size }), styles.square, className)}
    >
      <Icon name={icon} />
    </button>
  );
  if (!tooltip) return button;
  return (
    <Tooltip
      text={
        <>
          {label} {keys && <KeyHint keys={keys} />}
        </>
      }
    >
      {button}
    </Tooltip>
  );
}

/** buttonLook returns the class names of a link that looks like a button. */
export function buttonLook({ kind = 'plain', size = 'normal' }: { [K in keyof Look]?: Look[K] | undefined }): string {
  return cx(styles.button, styles[kind], size === 'small' && styles.small);
}
