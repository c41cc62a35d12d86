// Package social keeps the logins at social networks and ad platforms, and the accounts that an org reaches through
// them. A login is a grant: it owns the tokens, and is renewed and dies as one. Accounts point at it.
//
// # What the caller may rely on
//
//   - Connecting adds. An account's own row is the only one that connecting it again changes; another login's, another
//     account's and another org's stay as they are, byte for byte.
//   - Of two logins that reach the same account the younger one's tokens are kept.
//   - No token is ever in a row, an event, a problem, a log line or a job in the clear: see vault.go for what is sealed
//     and what each sealing is bound to.
//   - A token that was given to us has a row from the moment we have it, before anything else is asked of the provider:
//     of a pending login, which a person chooses from, or which a job revokes at its end.
//   - Nothing here asks a provider while a transaction is open.
//
// # The order of locks
//
// Whatever changes which login an account hangs on takes the org's lock first (see lock), then rows in any order. A
// refresh changes its own grant's row alone and needs no lock.
package social
