// Package social keeps the logins at social networks and ad platforms, and the accounts that an org reaches through
// them. A login is stored as a grant: it owns the tokens, and is renewed or invalidated as a whole. Accounts refer to
// their grant.
//
// # What the caller may rely on
//
//   - Connecting only adds. Connecting an account again changes that account's row alone; accounts of other logins,
//     other accounts and other orgs stay unchanged, byte for byte.
//   - If two logins reach the same account, the newer login's tokens are kept.
//   - No token is ever stored in plain text in a row, an event, a problem, a log line or a job. vault.go lists the
//     sealed data and the context that each ciphertext is bound to.
//   - Each token that a provider issues is stored in a row at once, before any further request to the provider: the row
//     of a pending login, from which a person chooses accounts, or which a job revokes when it expires.
//   - No request to a provider is made while a transaction is open.
//
// # Lock order
//
// Code that changes which grant an account belongs to takes the org lock first (see lockAccounts), then rows in any
// order. A refresh changes only its own grant's row and needs no lock.
package social
