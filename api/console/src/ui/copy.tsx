import { useEffect, useState } from 'react';
import { Icon } from './icon';
import { Tooltip } from './tooltip';
import { cx } from './cx';
import styles from './text.module.css';

/** useCopy returns a function that copies text, and whether it has just done so. */
export function useCopy(): [copied: boolean, copy: (text: string) => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied, (text) => void navigator.clipboard.writeText(text).then(() => setCopied(true))];
}

/** Copy is a small button that copies text. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, copy] = useCopy();
  return (
    <Tooltip text={copied ? 'Copied' : label}>
      <button type="button" className={styles.copy} aria-label={label} onClick={() => copy(text)}>
        <Icon name={copied ? 'check' : 'copy'} size={14} />
        <span className="visually-hidden" role="status">
          {copied && 'Copied'}
        </span>
      </button>
    </Tooltip>
  );
}

/** Id shows the end of an id, where the random part is, and copies the whole by a click. */
export function Id({ id }: { id: string }) {
  const [copied, copy] = useCopy();
  return (
    <Tooltip text={copied ? 'Copied' : id}>
      <button type="button" className={cx(styles.id, 'mono')} onClick={() => copy(id)}>
        {id.length > 12 ? `…${id.slice(-8)}` : id}
        <span className="visually-hidden"> copy the id</span>
        <Icon name={copied ? 'check' : 'copy'} size={12} />
      </button>
    </Tooltip>
  );
}

/** Secret shows a secret that the server shows once, in full, with a copy button. Do not keep it after unmounting. */
export function Secret({ value, label }: { value: string; label: string }) {
  const [copied, copy] = useCopy();
  return (
    <div className={styles.secret}>
      <code aria-label={label}>{value}</code>
      <button type="button" onClick={() => copy(value)}>
        <Icon name={copied ? 'check' : 'copy'} size={14} />
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
