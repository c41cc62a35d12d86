import type { Plugin } from 'vite';

/**
 * head puts two things before everything else in the built HTML: the script that sets the theme before the first paint,
 * as a plain script, which blocks the paint as a module would not; and the preload of the font.
 */
export function head(): Plugin {
  return {
    name: 'console-head',
    apply: 'build',
    buildStart() {
      this.emitFile({ type: 'chunk', id: 'src/boot.ts', name: 'boot' });
    },
    transformIndexHtml: {
      order: 'post',
      handler(_, context) {
        const files = Object.keys(context.bundle ?? {});
        const script = Object.values(context.bundle ?? {}).find((file) => file.type === 'chunk' && file.name === 'boot');
        const font = files.find((file) => /inter-latin-wght-normal.*\.woff2$/.test(file));
        if (script?.type !== 'chunk' || font === undefined) throw new Error('the build has no boot script or no font');
        if (script.imports.length > 0) throw new Error('the boot script is no module: it may import nothing');
        return [
          {
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/app/${font}`, crossorigin: true },
            injectTo: 'head-prepend',
          },
          { tag: 'script', attrs: { src: `/app/${script.fileName}` }, injectTo: 'head-prepend' },
        ];
      },
    },
  };
}
