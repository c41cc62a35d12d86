// Package ai meters what orgs spend at a provider of language models.
//
// # The month
//
// Each org has a number of tokens per calendar month (UTC). Postgres holds the account, so that no loss of Redis changes it. Before
// a call its estimate is reserved: the prompt's tokens and the most that may be answered, so that used and reserved
// together never pass the limit. After the call it is settled at what was used; a call that never reached the provider costs
// nothing. A reservation whose process died is swept: since nobody knows what was used, the estimate is charged; should the usage
// become known later, the difference is corrected.
//
// Settling moves a reservation out of its state at most once, so twice is once.
package ai
