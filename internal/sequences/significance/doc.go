// Package significance compares the variants of a mail by the share of the recipients that replied or clicked.
//
// The share of a variant is unknown; after s successes in n trials it has the distribution Beta(1+s, 1+n-s), which is
// the posterior for a uniform prior. Best integrates over these distributions. Arms are compared only with enough data,
// because a comparison that is looked at all the time would else find a winner by chance.
package significance
