import { useEffect, useState } from 'react';

const typingPause = 400; // milliseconds that a value must stand before it is used

/** useStanding returns value once it has not changed for a moment. */
export function useStanding<T>(value: T): T {
  const [standing, setStanding] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setStanding(value), typingPause);
    return () => clearTimeout(timer);
  }, [value]);
  return standing;
}
