import react from '@vitejs/plugin-react';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { head } from './build/head';

// The API that the development server passes requests to. Set FUNNELWORK_API to use another.
const api = process.env['FUNNELWORK_API'] ?? 'http://127.0.0.1:8080';

// Modules that nearly all screens with a list load.
const partOfLists = new RegExp(
  [
    'src/ui/(table|tablehead|tablerow|toolbar|checkbox|menu|popover|opener|status|time|score)\\.',
    'src/screens/record/(directory|label|golink|listsearch|types|messages|neighbours|archive)\\.',
  ].join('|'),
);

export default defineConfig({
  base: '/app/',
  plugins: [react(), head()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0, // the security policy allows no data: URLs but for images
    chunkSizeWarningLimit: 1000, // api/console/loads_test.go has the budgets
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Few larger files compress better than many small ones: what every page loads, and what every list does.
          groups: [
            { name: 'shell', tags: ['$initial'], test: (id) => !id.endsWith('/src/boot.ts') },
            { name: 'list', test: partOfLists },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/app/frame', '/billing', '/white-label', '/oauth'].map((path) => [path, api])),
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    isolate: false, // an environment of its own for each file takes ten times as long as all tests
    testTimeout: 60_000, // CI runs them beside tests that use the whole machine
  },
});
