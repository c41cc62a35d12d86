import type { ReactNode } from 'react';

// Drawn on a grid of 16 with a line of 1.5, so that they are as heavy as the text beside them.
const shapes = {
  home: <path d="M2.5 7 8 2.5 13.5 7v6a.5.5 0 0 1-.5.5H9.75v-4h-3.5v4H3a.5.5 0 0 1-.5-.5z" />,
  contacts: (
    <>
      <circle cx="6" cy="5.25" r="2.5" />
      <path d="M1.5 13.25c.3-2.4 2.1-3.75 4.5-3.75s4.2 1.35 4.5 3.75M10.5 2.9a2.5 2.5 0 0 1 0 4.7M12.4 10c1.2.6 1.9 1.7 2.1 3.25" />
    </>
  ),
  companies: (
    <>
      <path d="M2.75 13.5v-10a1 1 0 0 1 1-1h4.5a1 1 0 0 1 1 1v10M9.25 6.5h3a1 1 0 0 1 1 1v6M1.5 13.5h13" />
      <path d="M5 5.5h2M5 8h2M5 10.5h2M11.25 9.25v0M11.25 11.5v0" />
    </>
  ),
  deals: <path d="M8 1.75v12.5M11 4.5c-.5-1-1.6-1.5-3-1.5-1.8 0-3 .9-3 2.3C5 8.5 11.25 7 11.25 10.5c0 1.5-1.35 2.5-3.25 2.5-1.7 0-2.9-.7-3.35-1.9" />,
  tasks: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="m5.5 8.2 1.75 1.75L10.6 6.4" />
    </>
  ),
  inbox: <path d="M2 9.25h3.5l1 1.75h3l1-1.75H14M4 3h8l2 6.25V12a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V9.25z" />,
  sequences: (
    <>
      <circle cx="3.75" cy="3.75" r="1.75" />
      <circle cx="12.25" cy="12.25" r="1.75" />
      <path d="M5.5 3.75h4.25a2.1 2.1 0 0 1 0 4.25h-3.5a2.1 2.1 0 0 0 0 4.25h4.25" />
    </>
  ),
  broadcasts: <path d="M2.25 9.5v-3l8-3.75v10.5zM5 10.5v2.75h2.25v-1.9M12.5 6.25a2.4 2.4 0 0 1 0 3.5" />,
  templates: (
    <>
      <rect x="2.25" y="2.75" width="11.5" height="10.5" rx="1.25" />
      <path d="M2.25 6h11.5M6.25 6v7.25" />
    </>
  ),
  segments: (
    <>
      <path d="M8 2.25A5.75 5.75 0 1 0 13.75 8H8z" />
      <path d="M10.5 2.6a5.75 5.75 0 0 1 2.9 2.9h-2.9z" />
    </>
  ),
  imports: <path d="M8 2.25v7.5M5 6.9l3 3 3-3M2.5 11v1.5a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1V11" />,
  exports: <path d="M8 9.75v-7.5M5 5.1l3-3 3 3M2.5 11v1.5a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1V11" />,
  accounts: <path d="m6.5 9.5 3-3M7.25 4.6l1.4-1.4a2.9 2.9 0 0 1 4.15 4.15l-1.4 1.4M8.75 11.4l-1.4 1.4A2.9 2.9 0 0 1 3.2 8.65l1.4-1.4" />,
  settings: (
    <>
      <path d="M2 4.75h6.5M12 4.75h2M2 11.25h2M7.5 11.25H14" />
      <circle cx="10.25" cy="4.75" r="1.75" />
      <circle cx="5.75" cy="11.25" r="1.75" />
    </>
  ),
  webhook: (
    <>
      <circle cx="8" cy="4.25" r="2.25" />
      <circle cx="4" cy="11.25" r="2.25" />
      <circle cx="12" cy="11.25" r="2.25" />
      <path d="M7 6.25 4.9 9.2M9 6.25l2.1 2.95M6.25 11.25h3.5" />
    </>
  ),
  key: (
    <>
      <circle cx="5.25" cy="10.75" r="3" />
      <path d="m7.4 8.6 5.85-5.85M10.5 5.5l2 2" />
    </>
  ),
  billing: (
    <>
      <rect x="1.75" y="3.25" width="12.5" height="9.5" rx="1.5" />
      <path d="M1.75 6.5h12.5M4.25 10h2.5" />
    </>
  ),
  events: <path d="M1.75 8.25h2.5l2-5 3.5 9.5 2-4.5h2.5" />,
  plus: <path d="M8 3v10M3 8h10" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  check: <path d="m3.25 8.5 3 3 6.5-7" />,
  minus: <path d="M3.5 8h9" />,
  more: (
    <g fill="currentColor" stroke="none">
      <circle cx="3.25" cy="8" r="1.25" />
      <circle cx="8" cy="8" r="1.25" />
      <circle cx="12.75" cy="8" r="1.25" />
    </g>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="m10.4 10.4 3.35 3.35" />
    </>
  ),
  filter: <path d="M2 4h12M4.25 8h7.5M6.5 12h3" />,
  sort: <path d="M5 3v10M2.5 10.5 5 13l2.5-2.5M11 13V3M8.5 5.5 11 3l2.5 2.5" />,
  columns: (
    <>
      <rect x="2.25" y="2.75" width="11.5" height="10.5" rx="1.25" />
      <path d="M6.1 2.75v10.5M9.9 2.75v10.5" />
    </>
  ),
  down: <path d="m4 6.25 4 4 4-4" />,
  up: <path d="m4 9.75 4-4 4 4" />,
  right: <path d="m6.25 4 4 4-4 4" />,
  left: <path d="m9.75 4-4 4 4 4" />,
  selector: <path d="m5 6 3-3 3 3M5 10l3 3 3-3" />,
  copy: (
    <>
      <rect x="5.25" y="5.25" width="8.5" height="8.5" rx="1.25" />
      <path d="M10.75 5.25v-2a1 1 0 0 0-1-1h-6.5a1 1 0 0 0-1 1v6.5a1 1 0 0 0 1 1h2" />
    </>
  ),
  edit: <path d="M10.75 2.75a1.6 1.6 0 0 1 2.5 2.5L5.5 13l-3.25.75L3 10.5z" />,
  trash: <path d="M2.5 4.25h11M6 4.25V3a.75.75 0 0 1 .75-.75h2.5A.75.75 0 0 1 10 3v1.25M3.75 4.25l.6 8.5a1 1 0 0 0 1 .95h5.3a1 1 0 0 0 1-.95l.6-8.5" />,
  archive: <path d="M2 3.25h12v2.5H2zM3 5.75v6.5a1 1 0 0 0 1 1h8a1 1 0 0 0 1-1v-6.5M6.5 8.5h3" />,
  external: <path d="M9 2.75h4.25V7M13 3 7.25 8.75M6.5 3.5H3.75a1 1 0 0 0-1 1v7.75a1 1 0 0 0 1 1h7.75a1 1 0 0 0 1-1V9.5" />,
  refresh: <path d="M13.25 8a5.25 5.25 0 1 1-1.6-3.75l1.6 1.5M13.25 2.5v3.25H10" />,
  undo: <path d="M5.5 3 2.5 6l3 3M2.75 6H9.5a3.75 3.75 0 0 1 0 7.5H6" />,
  mail: (
    <>
      <rect x="1.75" y="3.25" width="12.5" height="9.5" rx="1.5" />
      <path d="m2.25 4.5 5.75 4.25 5.75-4.25" />
    </>
  ),
  phone: <path d="M3.25 2.5h2l1 2.9-1.4 1.1a8 8 0 0 0 4.65 4.65l1.1-1.4 2.9 1v2a1 1 0 0 1-1.1 1C6.9 13.2 2.8 9.1 2.25 3.6a1 1 0 0 1 1-1.1z" />,
  note: <path d="M3 2.75h10v7.5l-3 3H3zM10 13v-2.75h2.75M5.5 6h5M5.5 8.5h3" />,
  calendar: (
    <>
      <rect x="2.25" y="3.25" width="11.5" height="10.25" rx="1.25" />
      <path d="M2.25 6.75h11.5M5.25 1.75v2.5M10.75 1.75v2.5" />
    </>
  ),
  tag: <path d="M8.25 2.25h4.5a1 1 0 0 1 1 1v4.5l-6 6-5.5-5.5zM10.75 5.25v0" />,
  building: <path d="M3 13.5v-11h10v11M1.75 13.5h12.5M6 5.25h0M10 5.25h0M6 8h0M10 8h0M6.75 13.5V11h2.5v2.5" />,
  user: (
    <>
      <circle cx="8" cy="5.25" r="2.75" />
      <path d="M2.75 13.5c.4-2.6 2.5-4 5.25-4s4.85 1.4 5.25 4" />
    </>
  ),
  signout: <path d="M6 2.75H3.75a1 1 0 0 0-1 1v8.5a1 1 0 0 0 1 1H6M6.5 8h7M10.75 5.25 13.5 8l-2.75 2.75" />,
  lock: (
    <>
      <rect x="3" y="7" width="10" height="6.5" rx="1.25" />
      <path d="M5.25 7V5a2.75 2.75 0 0 1 5.5 0v2" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.75" />
      <path d="M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7" />
    </>
  ),
  moon: <path d="M13.5 9.5A5.75 5.75 0 0 1 6.5 2.5a5.75 5.75 0 1 0 7 7z" />,
  monitor: <path d="M1.75 3h12.5v8H1.75zM5.5 13.5h5M8 11v2.5" />,
  info: <path d="M8 13.75a5.75 5.75 0 1 0 0-11.5 5.75 5.75 0 0 0 0 11.5zM8 7.5v3.25M8 5.25v0" />,
  warning: <path d="M7.1 2.9 1.9 12a1 1 0 0 0 .9 1.5h10.4a1 1 0 0 0 .9-1.5L8.9 2.9a1 1 0 0 0-1.8 0zM8 6.25v3M8 11.25v0" />,
  error: <path d="M8 13.75a5.75 5.75 0 1 0 0-11.5 5.75 5.75 0 0 0 0 11.5zM8 5.25v3.25M8 10.75v0" />,
  clock: <path d="M8 13.75a5.75 5.75 0 1 0 0-11.5 5.75 5.75 0 0 0 0 11.5zM8 4.75V8l2.25 1.5" />,
  play: <path d="M4.5 2.75 12.75 8 4.5 13.25z" />,
  pause: <path d="M5 3v10M11 3v10" />,
  spark: <path d="M8 1.75 9.5 6.5 14.25 8 9.5 9.5 8 14.25 6.5 9.5 1.75 8 6.5 6.5z" />,
  grip: (
    <g fill="currentColor" stroke="none">
      <circle cx="6" cy="4" r="1" />
      <circle cx="10" cy="4" r="1" />
      <circle cx="6" cy="8" r="1" />
      <circle cx="10" cy="8" r="1" />
      <circle cx="6" cy="12" r="1" />
      <circle cx="10" cy="12" r="1" />
    </g>
  ),
  sidebar: (
    <>
      <rect x="2" y="2.75" width="12" height="10.5" rx="1.5" />
      <path d="M6 2.75v10.5" />
    </>
  ),
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  eye: (
    <>
      <path d="M1.5 8S3.75 3.5 8 3.5 14.5 8 14.5 8 12.25 12.5 8 12.5 1.5 8 1.5 8z" />
      <circle cx="8" cy="8" r="1.9" />
    </>
  ),
  help: <path d="M8 13.75a5.75 5.75 0 1 0 0-11.5 5.75 5.75 0 0 0 0 11.5zM6.25 6.4c.1-1 .8-1.6 1.8-1.6s1.7.6 1.7 1.5c0 1.2-1.75 1.3-1.75 2.6M8 11v0" />,
  bolt: <path d="M8.75 1.75 3.25 9h4l-.75 5.25L12.5 7h-4.25z" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof shapes;

/** Icon is decoration: the word beside it, or its button's label, says what it means. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {shapes[name]}
    </svg>
  );
}
