// Package externalid implements external_ids: the ids that the records of an org have in other systems, such as
// {"hubspot": "123"}. A record has at most one id in each system, and of the live records of an org and a kind at most
// one has an id.
//
// A record's row holds its ids in the column external_ids. Triggers keep the table external_id, which finds a record by
// an id, in line with that column and with archived_at, whichever statement writes them: see the migration. A write
// that takes an id of another live record is a violation, which Refused converts to a TakenError.
//
// Values are compared byte by byte, because some systems have ids that differ only in case.
package externalid
