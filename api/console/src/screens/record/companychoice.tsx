import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { messages } from '@/lib/messages';
import { readOptions } from '@/lib/read';
import { useApi } from '@/lib/services';
import { Combobox } from '@/ui/combobox';
import type { Option } from '@/ui/select';

const t = messages({ company: 'Company', find: 'Find a company' });

const typingPause = 200; // milliseconds before what is typed is looked for

/** CompanyChoice finds one of the org's companies. */
export function CompanyChoice({ value, onChange }: { value: Option | null; onChange: (value: Option | null) => void }) {
  const [text, setText] = useState('');
  const [wanted, setWanted] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim()), typingPause);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useQuery({
    ...readOptions(useApi(), '/api/v1/crm/companies', {
      query: { limit: 20, sort: 'name', ...(wanted !== '' && { q: wanted }) },
    }),
    placeholderData: (old) => old,
  });
  return (
    <Combobox
      label={t('company')}
      placeholder={t('find')}
      options={(found.data?.data.data ?? []).map(({ id, name, domain }) => ({
        value: id,
        label: name,
        ...(domain !== null && { hint: domain }),
      }))}
      value={value === null ? [] : [value]}
      onChange={([chosen]) => onChange(chosen ?? null)}
      onQuery={setText}
      loading={found.isFetching}
    />
  );
}
