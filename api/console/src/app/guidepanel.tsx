import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { createPortal } from 'react-dom';
import { messages } from '@/lib/messages';
import { readProblem } from '@/lib/problem';
import { Skeleton } from '@/ui/feedback';
import { SidePanel } from '@/ui/sidepanel';
import { Failure } from './failure';
import { type Block, guideOf, readGuide } from './guidetext';
import { GuideText } from './guideview';
import styles from './guide.module.css';

const t = messages({ title: 'Guide', whole: 'Open the guide in a tab' });

/** GuidePanel shows a guide beside the page. Links to other guides are followed within it. */
export function GuidePanel({ name, onClose }: { name: string; onClose: () => void }) {
  const [at, setAt] = useState(name);
  const guide = useQuery({ queryKey: ['guide', at], queryFn: ({ signal }) => load(at, signal), staleTime: Infinity });
  const follow = (href: string): boolean => {
    const other = guideOf(href);
    if (other === null) return false;
    setAt(other);
    return true;
  };
  return createPortal(
    <SidePanel
      title={guide.data?.title ?? t('title')}
      onClose={onClose}
      actions={
        <a href={pathOf(at)} target="_blank" rel="noopener" className={styles.whole}>
          {t('whole')}
        </a>
      }
      >
      {guide.data !== undefined ? (
        <GuideText blocks={guide.data.blocks} follow={follow} />
      ) : guide.error === null ? (
        <Skeleton width="60%" />
      ) : (
        <Failure error={guide.error} again={() => void guide.refetch()} />
      )}
    </SidePanel>,
    document.body,
  );
}

/** pathOf returns the address of a guide. */
function pathOf(name: string): string {
  return name === 'index' ? '/docs/guides/' : `/docs/guides/${encodeURIComponent(name)}`;
}

interface Guide {
  title: string;
  blocks: readonly Block[];
}

/** Reads the source of a guide, which the panel renders as text. */
async function load(name: string, signal: AbortSignal): Promise<Guide> {
  const response = await fetch(pathOf(name), { headers: { Accept: 'text/markdown' }, signal });
  if (!response.ok) throw await readProblem(response);
  return readGuide(await response.text());
}
