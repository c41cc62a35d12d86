// Package imports brings files of contacts in: a CSV is taken as it arrives, worked by steps, and can be undone.
//
// # The way of a file
//
// Stage reads the file from the wire and keeps its records in blocks, each in a transaction of its own: a transaction
// that was open for as long as an upload takes would hold back the event feed of everybody. What it needs of memory
// does not grow with the file. A file that breaks off leaves blocks that Drop, or the hourly retention, takes away.
// Queue makes an import of what was staged.
//
// Step works one block in the caller's transaction: it holds the import's row, so that two runs of the job work two
// blocks and never one twice, and a killed one leaves nothing. A record passes exactly the rules of the API's batch,
// of which Step is another caller.
//
// # Rows
//
// Rows are applied in the order of the file, so of two rows about one contact the later one has the last word, field by
// field; the second counts as repeated, beside what it came to. A blank cell leaves its field as it is. A contact is
// found by its address, or by its id where a column is mapped to id.
//
// # Undo
//
// For each contact the import keeps what it was before and which edit the import left. UndoStep archives what was
// created and gives back what was changed, to the byte, where nobody has edited the contact since; the rest is left and
// counted. Custom fields that the import defined go with it unless a live contact uses them. After 30 days the
// memory of an import is thrown away.
package imports
