// Package aged builds a database as customers have it after a year: hundreds of orgs, one of them huge, one that has
// grown since the last ANALYZE, most with a handful of contacts; columns that correlate; imports of a thousand contacts
// within two seconds; day partitions behind and ahead, of which today's is not analyzed; rows in every table that the
// product fills. A fresh database with one org hides what statements cost in such a one.
//
// The build is a sequence of set-based SQL files. The same Seed gives the same rows, at other times of day at other
// times. Helpers of the build are in the schema aged; the tables of the product hold nothing that it would not write.
//
// A built cluster is kept in the user's cache directory for the day, as a migrated one is, so that the tests of many
// packages share it: each test binary starts a server on a copy. Read shares one database of that server between the
// tests that change nothing. Write copies it for one test; statistics travel with the copy. Autovacuum is off, so that
// the statistics stay as they are.
package aged
