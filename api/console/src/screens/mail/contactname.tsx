import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { readOptions } from '@/lib/read';
import { useApi } from '@/lib/services';
import { nameOf } from '../record/types';

const restTime = 120; // milliseconds that a row stays in view before its contact is read
const keepTime = 600_000; // an event reads it again when the contact changes

/** ContactName shows a contact by its id: the short id until it is read, and where it was purged. */
export function ContactName({ id }: { id: string }) {
  const [rests, setRests] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRests(true), restTime);
    return () => clearTimeout(timer);
  }, []);
  const contact = useQuery({
    ...readOptions(useApi(), '/api/v1/crm/contacts/{id}', { path: { id } }),
    enabled: rests,
    staleTime: keepTime,
    retry: false,
  });
  return <>{contact.data === undefined ? `…${id.slice(-8)}` : nameOf(contact.data.data)}</>;
}
