import { useEffect, useRef, useState } from 'react';
import { messages } from '@/lib/messages';
import { readNotice } from './notice';
import mail from './mail.module.css';
import styles from './mailframe.module.css';

const t = messages({
  left: { one: '{count} picture is not loaded.', other: '{count} pictures are not loaded.' },
});

const leastHeight = 64;

/**
 * MailFrame shows the HTML of a mail in a page with an origin and a policy of its own (/app/frame), which runs nothing
 * of it and makes no request. title names the frame for screen readers.
 */
export function MailFrame({ html, title }: { html: string; title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const ready = useRef(false);
  const [shown, setShown] = useState({ height: leastHeight, left: 0 });
  // The frame's origin is opaque, so that no other target names it. Its window is the one that this page has opened.
  const post = useRef(() => {});
  post.current = () => frame.current?.contentWindow?.postMessage(html, '*');
  useEffect(() => {
    const hear = (event: MessageEvent) => {
      if (event.source !== frame.current?.contentWindow) return;
      const notice = readNotice(event.data);
      if (notice === 'ready') {
        ready.current = true;
        post.current();
      } else if (notice !== null) setShown(notice);
    };
    addEventListener('message', hear);
    return () => removeEventListener('message', hear);
  }, []);
  useEffect(() => {
    if (ready.current) post.current();
  }, [html]);
  return (
    <div className={mail.tight}>
      <div className={styles.paper}>
        <iframe
          ref={frame}
          className={styles.frame}
          title={title}
          src="/app/frame"
          sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"
          referrerPolicy="no-referrer"
          style={{ height: Math.max(leastHeight, shown.height) }}
        />
      </div>
      {shown.left > 0 && <p className="meta">{t('left', { count: shown.left })}</p>}
    </div>
  );
}
