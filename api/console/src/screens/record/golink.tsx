import { useRouter } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

/** GoLink leads to an address of the console that need not be known to the compiler, without loading the page anew. */
export function GoLink({ href, ...rest }: Omit<ComponentProps<'a'>, 'href' | 'onClick'> & { href: string }) {
  const router = useRouter();
  return (
    <a
      href={href}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
        event.preventDefault();
        router.history.push(href);
      }}
      {...rest}
    />
  );
}
