/** One event of a text/event-stream. */
export interface ServerEvent {
  /** The last id that the stream stated, of this or an earlier event. */
  id: string;
  type: string;
  data: string;
}

/**
 * StreamParser reads a text/event-stream (HTML Living Standard, 9.2.6) in chunks of text that may end anywhere.
 * push returns the events that are whole now. Comments and the field retry are left out.
 */
export class StreamParser {
  #rest = '';
  #id = '';
  #type = '';
  #data: string[] = [];
  #start = true;

  push(text: string): ServerEvent[] {
    if (this.#start && text !== '') {
      this.#start = false;
      if (text.startsWith('\uFEFF')) text = text.slice(1);
    }
    this.#rest += text;
    const events: ServerEvent[] = [];
    // A CR at the end may be the first half of CR LF, so it waits for the next chunk.
    const ends = /\r\n|\n|\r(?!$)/g;
    let from = 0;
    for (let end = ends.exec(this.#rest); end !== null; end = ends.exec(this.#rest)) {
      const event = this.#line(this.#rest.slice(from, end.index));
      if (event !== null) events.push(event);
      from = ends.lastIndex;
    }
    this.#rest = this.#rest.slice(from);
    return events;
  }

  #line(line: string): ServerEvent | null {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#type = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    return null;
  }

  #dispatch(): ServerEvent | null {
    const event = { id: this.#id, type: this.#type || 'message', data: this.#data.join('\n') };
    const whole = this.#data.length > 0 || this.#type !== '';
    this.#type = '';
    this.#data = [];
    return whole ? event : null;
  }
}
