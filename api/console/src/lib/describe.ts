import { NetworkError, isProblem } from './problem';

/** What a page shows of an error. It has the shape of ui's FormProblem. */
export interface Description {
  title: string;
  detail: string;
  request_id?: string | undefined;
  errors?: readonly { pointer?: string | undefined; detail: string }[] | undefined;
}

const known = new WeakMap<object, Description>();

/** describe returns what to tell a person about error; null for none. The same error has the same description. */
export function describe(error: unknown): Description | null {
  if (error === null || error === undefined) return null;
  if (typeof error !== 'object') return make(error);
  let made = known.get(error);
  if (made === undefined) known.set(error, (made = make(error)));
  return made;
}

function make(error: unknown): Description {
  if (isProblem(error)) {
    const { title, detail, request_id, errors } = error.problem;
    return { title, detail, request_id, errors: errors?.map((e) => ({ pointer: e.pointer, detail: e.detail })) };
  }
  if (error instanceof NetworkError) {
    return {
      title: 'No connection',
      detail: 'The server cannot be reached. What you typed is still here: try again when you are connected.',
    };
  }
  return { title: 'This did not work', detail: error instanceof Error ? error.message : 'An unknown error happened.' };
}
