import type { Editor } from '@tiptap/core';
import { useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { buttonLook } from '@/ui/button';
import { cx } from '@/ui/cx';
import { KeyHint } from '@/ui/keyhint';
import { Tooltip } from '@/ui/tooltip';
import { t } from './messages';
import styles from './compose.module.css';

interface Tool {
  label: string;
  keys: string;
  shape: ReactNode;
  isActive: boolean;
  run: () => void;
}

/** Toolbar formats what is selected. It is one stop of Tab; the arrow keys move in it. */
export function Toolbar({ editor, controls, onLink }: { editor: Editor; controls: string; onLink: () => void }) {
  const bar = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const tools = toolsOf(editor, onLink);
  const move = (event: KeyboardEvent) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tools.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = (to + tools.length) % tools.length;
    setAt(next);
    bar.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <div
      ref={bar}
      className={styles.tools}
      role="toolbar"
      aria-label={t('tools')}
      aria-controls={controls}
      onKeyDown={move}
    >
      {tools.map((tool, i) => (
        <Tooltip key={tool.label} text={<>{tool.label} <KeyHint keys={tool.keys} /></>}>
          <button
            type="button"
            className={cx(buttonLook({ kind: 'quiet', size: 'small' }), styles.tool)}
            aria-label={tool.label}
            aria-pressed={tool.isActive}
            tabIndex={i === at ? 0 : -1}
            onFocus={() => setAt(i)}
            onMouseDown={(event) => event.preventDefault()} // the selection stays
            onClick={tool.run}
          >
            <svg viewBox="0 0 16 16" width={16} height={16} aria-hidden="true" focusable="false">
              {tool.shape}
            </svg>
          </button>
        </Tooltip>
      ))}
    </div>
  );
}

const dot = (y: number) => <circle cx="2.75" cy={y} r="1" fill="currentColor" stroke="none" />;

function toolsOf(editor: Editor, onLink: () => void): Tool[] {
  const command = () => editor.chain().focus();
  return [
    {
      label: t('bold'),
      keys: 'mod b',
      shape: <path d="M4.5 2.75h4a2.5 2.5 0 0 1 0 5h-4zM4.5 7.75h4.75a2.75 2.75 0 0 1 0 5.5H4.5z" strokeWidth="2" />,
      isActive: editor.isActive('bold'),
      run: () => command().toggleMark('bold').run(),
    },
    {
      label: t('italic'),
      keys: 'mod i',
      shape: <path d="M6.75 2.75h5M4.25 13.25h5M9.5 2.75l-3 10.5" />,
      isActive: editor.isActive('italic'),
      run: () => command().toggleMark('italic').run(),
    },
    {
      label: t('heading'),
      keys: 'mod alt 2',
      shape: <path d="M4 2.75v10.5M12 2.75v10.5M4 8h8" />,
      isActive: editor.isActive('heading'),
      run: () => command().toggleNode('heading', 'paragraph').run(),
    },
    {
      label: t('bullets'),
      keys: 'mod shift 8',
      shape: <>{dot(4)}{dot(8)}{dot(12)}<path d="M6 4h8M6 8h8M6 12h8" /></>,
      isActive: editor.isActive('bulletList'),
      run: () => command().toggleList('bulletList', 'listItem').run(),
    },
    {
      label: t('numbers'),
      keys: 'mod shift 7',
      shape: <path d="M6.5 4H14M6.5 8H14M6.5 12H14M2.25 3l1-.75v3.5M2 9.25c.3-.8 2-.8 2 .25 0 .75-2 1.4-2 2.5h2.1" />,
      isActive: editor.isActive('orderedList'),
      run: () => command().toggleList('orderedList', 'listItem').run(),
    },
    {
      label: t('quote'),
      keys: 'mod shift b',
      shape: <path d="M2.5 3v10M6 4.5h8M6 8h8M6 11.5h5" />,
      isActive: editor.isActive('blockquote'),
      run: () => command().toggleWrap('blockquote').run(),
    },
    {
      label: t('link'),
      keys: 'mod k',
      shape: (
        <>
          <path d="m6.5 9.5 3-3M7.25 4.6l1.4-1.4a2.9 2.9 0 0 1 4.15 4.15l-1.4 1.4" />
          <path d="M8.75 11.4l-1.4 1.4A2.9 2.9 0 0 1 3.2 8.65l1.4-1.4" />
        </>
      ),
      isActive: editor.isActive('link'),
      run: onLink,
    },
  ];
}
