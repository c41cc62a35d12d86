/** Messages between the tabs of this browser. A tab does not receive its own. Nothing is stored. */
export interface Channel<T> {
  post(message: T): void;
  listen(listener: (message: T) => void): () => void;
}

/** openChannel returns the channel of that name. T is what every tab sends; tabs of another release may send more. */
export function openChannel<T>(name: string): Channel<T> {
  const channel = new BroadcastChannel(name);
  return {
    post: (message) => channel.postMessage(message),
    listen(listener) {
      const hear = (event: MessageEvent<T>) => listener(event.data);
      channel.addEventListener('message', hear);
      return () => channel.removeEventListener('message', hear);
    },
  };
}
