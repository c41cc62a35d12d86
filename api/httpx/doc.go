// Package httpx is the HTTP kernel of the API: everything that all operations share and that knows no noun.
//
// A Server authenticates, limits and validates requests, and writes responses. Route mounts an operation and documents
// it. Write owns the transaction of a change and its idempotency record, Read that of a read. Page, Tagged and IfMatch
// are embedded in the inputs and outputs of operations; Optional, Nullable and OneOrMore are members of bodies.
//
// The package depends on the ground packages, on events for the origin of a change, and on two nouns that every request
// needs: auth for the principal and limits for the rate limit. What else it needs from a noun, its Config takes as a
// function or a small interface (Plans, Audit, HostResolver).
package httpx
