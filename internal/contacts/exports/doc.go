// Package exports writes contacts to files. A file is built in steps, stored in the database in parts, and can be
// downloaded with a signed link.
//
// # How a file is built
//
// Start stores an export. Each Step appends the next part in the caller's transaction: a fixed number of contacts after
// the last one, in the order of creation. Step locks the export's row, so that two runs of the job write two different
// parts. The file contains every contact exactly once that existed before the export and matches at the time of its
// step, because the position in the order of creation never changes. The file is not a snapshot of one moment: that
// would hold back vacuum for the whole run.
//
// # Cells
//
// Package sheet writes the cells of a CSV, so that no spreadsheet interprets one as a formula. Imports read the same
// format: importing an exported CSV or workbook changes nothing. The cells of a workbook and the values of NDJSON are
// unchanged; a workbook has texts, which spreadsheets never compute, and short numbers.
package exports
