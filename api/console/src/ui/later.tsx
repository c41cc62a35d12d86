import { lazy, Suspense, type ComponentType } from 'react';

/** later returns a component that is loaded when it is first shown, and shows nothing until then. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const Loaded = lazy(() => load().then((component) => ({ default: component as ComponentType<object> })));
  return function Later(props: P) {
    return (
      <Suspense>
        <Loaded {...props} />
      </Suspense>
    );
  };
}
