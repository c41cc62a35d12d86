// Package ai meters what orgs spend at a provider of language models.
//
// # Monthly quota
//
// Each org has a number of tokens per calendar month (UTC). Postgres holds the account, so a loss of Redis does not
// change it. Before a call, Reserve reserves its estimate: the tokens of the prompt and the maximum length of the
// reply. The sum of used and reserved tokens therefore never exceeds the limit. After the call, Settle charges the
// tokens that the call used; a call that never reached the provider costs nothing. Sweep closes reservations left open
// by a process that died. Their usage is unknown, so Sweep charges the estimate; if the usage is reported later, Settle
// corrects the difference.
//
// A reservation is settled at most once, so Settle is idempotent.
package ai
