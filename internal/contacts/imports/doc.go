// Package imports imports files of contacts. A CSV is staged while it is uploaded, processed in steps, and can be
// undone.
//
// # How a file is processed
//
// Stage reads the upload and stores its records in blocks, each in its own transaction: a transaction that stays open
// for the whole upload would hold back the event feeds of all orgs. Its memory use does not grow with the file. An
// upload that breaks off leaves blocks, which Drop or the hourly retention removes. Queue creates an import from a
// staged file.
//
// Step processes one block in the caller's transaction. It locks the import's row, so that two runs of the job process
// two different blocks, and a killed step is rolled back. Records pass exactly the rules of the API's batch endpoint:
// Step calls the same code.
//
// # Rows
//
// Rows are applied in file order. If two rows match one contact, the later one wins, field by field; it counts as
// repeated, and the first one for what all rows of its block did together. A blank cell leaves its field unchanged. A
// contact is matched by its id if a column is mapped to id, else by an external id if columns are mapped to those, else
// by its address.
//
// The first step of a file of several blocks gathers rows about one contact that are far apart in blocks of their own.
// Together they change it once, so that a second import of the file changes nothing. It leaves apart the rows beyond
// 100,000, files of more than 4 million rows, and rows of which some name the contact by its id and others by its
// address.
//
// # Undo
//
// For each contact the import stores its previous state and the edit that the import left. UndoStep archives the
// created contacts and restores the changed ones, byte for byte, unless they have been edited since; it leaves and
// counts those. Custom fields that the import defined are removed unless a live contact uses them. The undo data of an
// import is deleted after 30 days.
package imports
