import { messages } from '@/lib/messages';
import { Code } from '@/ui/code';
import type { Block, Inline } from './guidetext';
import styles from './guide.module.css';

const t = messages({ example: 'Example' });

type Follow = (href: string) => boolean;

/** GuideText renders the blocks of a guide as text. follow reports whether it shows a link beside the page. */
export function GuideText({ blocks, follow }: { blocks: readonly Block[]; follow: Follow }) {
  return (
    <div className={styles.text}>
      {blocks.map((block, at) => (
        <One key={at} block={block} follow={follow} />
      ))}
    </div>
  );
}

function One({ block, follow }: { block: Block; follow: Follow }) {
  switch (block.kind) {
    case 'heading':
      return (
        <h2 id={`guide-${block.id}`} tabIndex={-1}>
          {block.text}
        </h2>
      );
    case 'text':
      return (
        <p>
          <Parts parts={block.parts} follow={follow} />
        </p>
      );
    case 'code':
      return <Code title={t('example')} text={block.text} />;
    case 'list': {
      const List = block.ordered ? 'ol' : 'ul';
      return (
        <List>
          {block.items.map((item, at) => (
            <li key={at}>
              <Parts parts={item} follow={follow} />
            </li>
          ))}
        </List>
      );
    }
    case 'table':
      return (
        <div className={styles.scroll} role="region" aria-label={block.head.flat().map(({ text }) => text).join(', ')} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {block.head.map((cell, at) => (
                  <th key={at} scope="col">
                    <Parts parts={cell} follow={follow} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, i) => (
                <tr key={i}>
                  {row.map((cell, at) => (
                    <td key={at}>
                      <Parts parts={cell} follow={follow} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
}

function Parts({ parts, follow }: { parts: readonly Inline[]; follow: Follow }) {
  return parts.map(({ kind, text, href = '' }, at) => {
    if (kind === 'code') return <code key={at}>{text}</code>;
    if (kind === 'strong') return <strong key={at}>{text}</strong>;
    if (kind === 'text') return text;
    return (
      <a
        key={at}
        href={href}
        {...(!href.startsWith('#') && { target: '_blank', rel: 'noopener' })}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          if (href.startsWith('#')) {
            event.preventDefault();
            document.getElementById(`guide-${href.slice(1)}`)?.scrollIntoView();
          } else if (follow(href)) event.preventDefault();
        }}
      >
        {text}
      </a>
    );
  });
}
