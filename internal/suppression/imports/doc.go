// Package imports imports files of suppressions, as other senders export them. A CSV is staged while it is uploaded and
// processed in steps, like a file of contacts (internal/contacts/imports), but without an undo: a suppression is lifted
// with a reason, one by one.
//
// # Columns
//
// A line has an address in email, a domain in domain, or either of the two in address; and it may have its purpose,
// reason and note. A blank cell takes the purpose and the reason of the import. Other columns are ignored.
//
// # Steps
//
// Step processes one block in the caller's transaction. It locks the import's row, so that two runs of the job process
// two different blocks, and a killed step is rolled back. A line whose suppression is in force already is unchanged, so
// a file that is imported again adds nothing.
package imports
