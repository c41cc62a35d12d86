import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { readOptions } from '@/lib/read';
import { useApi } from '@/lib/services';
import { Combobox } from '@/ui/combobox';
import type { Option } from '@/ui/select';
import { nameOf } from '../record/types';

const typingPause = 200; // milliseconds before what is typed is looked for

/** ContactChoice finds contacts of the org by name or address: one, or several with multiple. */
export function ContactChoice({ label, placeholder, value, onChange, multiple = false }: {
  label: string;
  placeholder: string;
  value: readonly Option[];
  onChange: (value: Option[]) => void;
  multiple?: boolean;
}) {
  const [text, setText] = useState('');
  const [wanted, setWanted] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim()), typingPause);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useQuery({
    ...readOptions(useApi(), '/api/v1/crm/contacts', { query: { limit: 20, ...(wanted !== '' && { q: wanted }) } }),
    placeholderData: (old) => old,
  });
  return (
    <Combobox
      label={label}
      placeholder={placeholder}
      multiple={multiple}
      options={(found.data?.data.data ?? []).map((one) => ({ value: one.id, label: nameOf(one), hint: one.email }))}
      value={value}
      onChange={onChange}
      onQuery={setText}
      loading={found.isFetching}
    />
  );
}

/** useFirstContact returns the newest contact, with which a preview begins. */
export function useFirstContact(): Option | null {
  const first = useQuery(readOptions(useApi(), '/api/v1/crm/contacts', { query: { limit: 1 } }));
  const one = first.data?.data.data[0];
  return one === undefined ? null : { value: one.id, label: nameOf(one), hint: one.email };
}
