import { useMatches } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { messages } from '@/lib/messages';
import { IconButton } from '@/ui/button';
import { later } from '@/ui/later';
import { useCommands } from './commands';

const t = messages({ open: 'Guide to this page' });

const GuidePanel = later(() => import('./guidepanel').then((m) => m.GuidePanel));

/** GuideButton is the question mark of a page's head: it opens the guide that the page's route names, beside it. */
export function GuideButton() {
  const guide = useMatches({ select: (matches) => matches.findLast((m) => m.staticData.guide)?.staticData.guide });
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [guide]);
  const toggle = () => setOpen(!open);
  useCommands(guide === undefined ? [] : [{ id: 'guide', label: t('open'), icon: 'help', keys: 'h', run: toggle }]);
  if (guide === undefined) return null;
  return (
    <>
      <IconButton icon="help" label={t('open')} keys="h" aria-expanded={open} onClick={toggle} />
      {open && <GuidePanel key={guide} name={guide} onClose={() => setOpen(false)} />}
    </>
  );
}
