import { useState, type ReactNode } from 'react';
import { Copy } from './copy';
import { JsonTree } from './jsontree';
import styles from './code.module.css';

/** Code shows text as it is, in a frame with a copy button. */
export function Code({ title, text }: { title?: string; text: string }) {
  return (
    <Frame title={title ?? 'Text'} text={text}>
      <pre className={styles.raw}>{text}</pre>
    </Frame>
  );
}

/**
 * JsonView shows received bytes as a tree and raw. Raw is the bytes as they came, since a signature covers them. What
 * is no JSON is shown raw only. Everything is text: nothing received is markup.
 */
export function JsonView({ title, text }: { title?: string; text: string }) {
  const [raw, setRaw] = useState(false);
  const parsed = parse(text);
  return (
    <Frame
      title={title ?? 'JSON'}
      text={text}
      modes={
        parsed !== undefined && (
          <>
            <Mode name="Tree" on={!raw} set={() => setRaw(false)} />
            <Mode name="Raw" on={raw} set={() => setRaw(true)} />
          </>
        )
      }
    >
      {raw || parsed === undefined ? <pre className={styles.raw}>{text}</pre> : <JsonTree value={parsed.value} />}
    </Frame>
  );
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function Frame({ title, text, modes, children }: { title: string; text: string; modes?: ReactNode; children: ReactNode }) {
  return (
    <div className={styles.frame}>
      <div className={styles.bar}>
        <span className={styles.title}>{title}</span>
        {modes}
        <Copy text={text} label={`Copy ${title}`} />
      </div>
      <div className={styles.body} tabIndex={0} role="region" aria-label={title}>
        {children}
      </div>
    </div>
  );
}

function Mode({ name, on, set }: { name: string; on: boolean; set: () => void }) {
  return (
    <button type="button" className={styles.mode} aria-pressed={on} onClick={set}>
      {name}
    </button>
  );
}
