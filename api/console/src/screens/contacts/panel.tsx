import { useNavigate } from '@tanstack/react-router';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import type { List } from '@/lib/read';
import { useRead } from '@/lib/read';
import { Skeleton } from '@/ui/feedback';
import { SidePanel } from '@/ui/sidepanel';
import { nameOf, type Contact } from '../record/types';
import { neighboursOf } from '../record/neighbours';
import { ContactActions, ContactSide, ContactStory } from './contact';
import { contactTarget } from './facts';
import { t } from './messages';

/** ContactPanel shows a contact beside its list. */
export function ContactPanel({ id, list, open }: {
  id: string;
  list: List<Contact>;
  /** Shows another contact, or none. */
  open: (id: string | undefined) => void;
}) {
  const contact = useRead('/api/v1/crm/contacts/{id}', contactTarget(id));
  const navigate = useNavigate();
  const { previous, next } = neighboursOf(list, id);
  const goTo = (to: Contact | undefined) => (to === undefined ? undefined : () => open(to.id));
  const expand = () => void navigate({ to: '/app/contacts/$id', params: { id } });
  useCommands([
    { id: 'contact.close', label: t('close'), keys: 'esc', keyOnly: true, run: () => open(undefined) },
    { id: 'contact.previous', label: t('previous'), keys: '[', keyOnly: true, run: () => goTo(previous)?.() },
    { id: 'contact.next', label: t('next'), keys: ']', keyOnly: true, run: () => goTo(next)?.() },
  ]);
  return (
    <SidePanel
      title={contact.data ? nameOf(contact.data) : t('title')}
      onClose={() => open(undefined)}
      onExpand={expand}
      onPrevious={goTo(previous)}
      onNext={goTo(next)}
      actions={contact.data && <ContactActions contact={contact.data} />}
    >
      {contact.answer === undefined ? (
        contact.error === null ? (
          <Skeleton width="60%" />
        ) : (
          <Failure error={contact.error} again={contact.again} />
        )
      ) : (
        <>
          <ContactSide answer={contact.answer} />
          <ContactStory id={id} />
        </>
      )}
    </SidePanel>
  );
}
