// Package wordindex maintains the word index of an org: a bit-sliced signature file. From it, a search for several
// common words gets the contacts that may have all of them.
//
// # Purpose
//
// contact_word has the contacts of one word. The time to intersect two of its long lists grows with the lists: half a
// second for two words of 500,000 contacts each, however few contacts have both. The index reads a few kilobytes for
// each 8,192 contacts instead. Its result is a superset, so the search reads the row of every candidate. A search is
// correct without the index, too. An org therefore may have none, and a build may take its time.
//
// Measured at a million contacts of one org, with default settings of Postgres, for two disjoint words of 400,000 and
// 600,000 contacts: INTERSECT takes 490 ms. A 128-bit signature in contact_word takes 71 ms for its scan alone, 97 ms
// with the words of companies, and 48 more bytes per word of a contact. GIN over a tsvector takes 52 ms, does not cover
// words of companies, and needs a function that bypasses the row policies. A whole search with this index takes 11 ms,
// or 26 to 39 ms if it reads the companies of all contacts. The mark of a new contact adds 6 % to the write-ahead log
// of its insert.
//
// # Blocks
//
// A block covers up to 8,192 contacts, each at a place. It has a column of bits for each of 512 slices. The prefixes of
// a contact's words hash to slices, and the contact has a bit in each of these (signature.go). A contact with a word
// that starts with a prefix has a bit in every slice of that prefix, so the AND of these columns misses no such
// contact. A block also has the id of each contact and a hash of its company, because a search also matches the words
// of a contact's company. The signatures do not contain the words of companies; a search reads these if it needs them.
// A renamed company therefore finds its contacts at once, without writes to them.
//
// Blocks are only added. A contact whose words or company change gets a place in a later block, and the earlier place
// becomes a false candidate. When there are twice as many blocks as after the last build, a new build reads all
// contacts into new blocks and deletes the old ones.
//
// # Contacts that no block covers
//
// If an org has an index, database triggers mark each added or changed contact, in the transaction of the change. Every
// marked contact is a candidate. A job (Sync) packs marks into a block when there are thousands of them, and deletes
// the marks in the same transaction. A search reads blocks and marks in one statement, so that every contact is in one
// of them. If there are too many marks, as during a large import, Find returns nil, and the search intersects
// contact_word.
//
// # The first build
//
// SweepOrgs creates the index of each org with many contacts. Transactions that wrote contacts before they could see
// the index have left no mark. Their transaction ids are below the fence, which a later transaction sets. The build
// begins when no transaction below the fence is running. The index is not ready, and no search reads it, until the
// build has ended.
//
// # Erasure
//
// Erase removes the bits and the id of a contact from all blocks. It locks the org's row of word_index, which Sync
// locks before it reads contacts, so that no later block contains the contact.
//
// # Limits
//
// A running write transaction in any database of the server delays a first build until it ends. A search reads about
// 1.3 MB of bits for each million contacts, and 4 MB more if it reads their companies.
package wordindex
