/** What is shown of the brand of this host besides its colours. The server writes it into the page. */
export interface Brand {
  name: string;
  logo?: string;
  support_email?: string;
  powered_by?: string;
}

/** readBrand returns the brand that the page was served in. */
export function readBrand(page: Document = document): Brand {
  const plain = { name: page.title };
  const content = page.querySelector('meta[name=brand]')?.getAttribute('content');
  try {
    const { name, logo, support_email, powered_by } = JSON.parse(content ?? '{}') as Partial<
      Record<keyof Brand, unknown>
    >;
    return {
      name: typeof name === 'string' && name !== '' ? name : plain.name,
      ...(typeof logo === 'string' && { logo }),
      ...(typeof support_email === 'string' && { support_email }),
      ...(typeof powered_by === 'string' && { powered_by }),
    };
  } catch {
    return plain;
  }
}

/** The brand of this page. */
export const brand = readBrand();
