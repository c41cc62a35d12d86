import type { paths } from './api.gen';

// Types of requests and responses, derived from the API document. They make a wrong path, parameter, body or use of a
// result a type error where the call is written.

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have an operation with method M. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: object } ? P : never;
}[keyof paths];

export type Operation<M extends Method, P extends PathOf<M>> = paths[P] extends { [K in M]: infer O } ? O : never;

type QueryOf<O> = O extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;
type PathParametersOf<O> = O extends { parameters: { path: infer V } } ? V : never;
type ContentOf<O> = O extends { requestBody?: infer B }
  ? NonNullable<B> extends { content: infer C }
    ? C
    : never
  : never;
type Json<C> = C extends { 'application/json': infer B }
  ? B
  : C extends { 'multipart/form-data': unknown }
    ? FormData
    : Blob;
type BodyOf<O> = [ContentOf<O>] extends [never] ? never : Json<ContentOf<O>>;

type Part<Name extends string, T> = [T] extends [never]
  ? unknown
  : Record<never, never> extends T
    ? { [K in Name]?: T }
    : { [K in Name]: T };
type BodyPart<O> = [BodyOf<O>] extends [never]
  ? unknown
  : O extends { requestBody: unknown }
    ? { body: BodyOf<O> }
    : { body?: BodyOf<O> };

/** What every call may state. */
export interface CallOptions {
  signal?: AbortSignal;
  /** An ETag: if the resource was edited since, the call changes nothing and throws code precondition_failed. */
  ifMatch?: string | null;
  /** See Submission. A call with a key is repeated when the service is unavailable. */
  idempotencyKey?: string;
  /** A POST that may be sent twice without harm, although it has no key. */
  repeatable?: boolean;
  /** Keeps the bytes of the response as Answer.text, for a body that is signed. */
  keepText?: boolean;
  /** own: with one's own token, also while acting in a client org. none: without a token. */
  credential?: 'own' | 'none';
}

export type Options<M extends Method, P extends PathOf<M>> = CallOptions &
  Part<'path', PathParametersOf<Operation<M, P>>> &
  Part<'query', QueryOf<Operation<M, P>>> &
  BodyPart<Operation<M, P>>;

/** The arguments after the path: the options may be left out where none is required. */
export type Rest<M extends Method, P extends PathOf<M>> =
  Record<never, never> extends Options<M, P> ? [options?: Options<M, P>] : [options: Options<M, P>];

type Success = 200 | 201 | 202 | 204;
type JsonOf<R> = R extends { content: { 'application/json': infer T } } ? T : undefined;

/** The body of the successful response. */
export type Result<M extends Method, P extends PathOf<M>> =
  Operation<M, P> extends { responses: infer R }
    ? { [S in keyof R & Success]: JsonOf<R[S]> }[keyof R & Success]
    : never;

/** What a read may state about what it reads: the part of its options that names the resource. */
export type Target<P extends PathOf<'get'>> = Part<'path', PathParametersOf<Operation<'get', P>>> &
  Part<'query', QueryOf<Operation<'get', P>>>;
export type TargetRest<P extends PathOf<'get'>> =
  Record<never, never> extends Target<P> ? [target?: Target<P>] : [target: Target<P>];
