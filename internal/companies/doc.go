// Package companies keeps the organisations that an org's contacts work for: their rows, the words that they are found
// by, and the rules of a change.
//
// Every function works inside the caller's transaction, which is under one org; the caller announces the events. A
// contact names its company by id alone, and may name one that is not there: nothing here looks at contacts.
//
// # Which company a row of a batch is about
//
// The one with the id, if the row has one; else the live one with the row's domain; else, for a row without a domain,
// the live one of that name, letter case aside. A name that several companies have decides nothing: the row is
// answered as an error, and an id or a domain settles it. Rows that go by name wait for each other, org by org,
// because nothing but the wait keeps two of them from making one company twice.
package companies
