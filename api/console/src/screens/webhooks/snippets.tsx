import { useState } from 'react';
import go from '../../../../pages/docs/verify.go.txt?raw';
import node from '../../../../pages/docs/verify.mjs.txt?raw';
import python from '../../../../pages/docs/verify.py.txt?raw';
import { messages } from '@/lib/messages';
import { Code } from '@/ui/code';
import { Tabs } from '@/ui/tabs';

const t = messages({
  title: 'Verify what arrives',
  node: 'Node',
  python: 'Python',
  go: 'Go',
});

// The examples of /docs/webhooks: tests run them against real deliveries.
const examples = { node, python, go } as const;
type Language = keyof typeof examples;
const languages: readonly Language[] = ['node', 'python', 'go'];

/** Snippets shows how an endpoint checks signatures, by language. */
export function Snippets() {
  const [language, setLanguage] = useState<Language>('node');
  return (
    <Tabs
      label={t('title')}
      value={language}
      onChange={setLanguage}
      tabs={languages.map((one) => ({
        value: one,
        label: t(one),
        content: <Code title={t('title')} text={examples[one]} />,
      }))}
    />
  );
}
