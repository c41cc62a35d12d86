import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { readOptions } from '@/lib/read';
import { useApi } from '@/lib/services';
import { Combobox } from '@/ui/combobox';
import type { Option } from '@/ui/select';
import { nameOf } from '../record/types';
import { t } from './messages';

const typingPause = 200; // milliseconds before what is typed is looked for

/** ContactChoice finds one of the org's contacts. */
export function ContactChoice({ value, onChange }: { value: Option | null; onChange: (value: Option | null) => void }) {
  const [text, setText] = useState('');
  const [wanted, setWanted] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim()), typingPause);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useQuery({
    ...readOptions(useApi(), '/api/v1/crm/contacts', {
      query: { limit: 20, ...(wanted !== '' && { q: wanted }) },
    }),
    placeholderData: (old) => old,
  });
  return (
    <Combobox
      label={t('contact')}
      placeholder={t('findContact')}
      options={(found.data?.data.data ?? []).map((contact) => ({
        value: contact.id,
        label: nameOf(contact),
        hint: contact.email,
      }))}
      value={value === null ? [] : [value]}
      onChange={([chosen]) => onChange(chosen ?? null)}
      onQuery={setText}
      loading={found.isFetching}
    />
  );
}
