// Package companies stores the companies that an org's contacts work for, their search words, and the rules for
// changing them.
//
// Every function runs inside the caller's transaction, which is bound to one org. The caller announces the events. A
// contact refers to its company by id alone, and that company need not exist: this package does not read contacts.
//
// # Which company a row of a batch matches
//
// A row with an id matches the company with that id. A row without an id matches the live company with one of the row's
// external ids, or else the one with its domain. A row with none of these matches the live company with that name,
// ignoring case. A name that several companies share is ambiguous: the row gets an error, and the caller must send an
// id or a domain. Batches with rows that match by name are serialized per org, because nothing else keeps two of them
// from creating the same company twice.
package companies
