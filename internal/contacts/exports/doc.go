// Package exports writes contacts out: a file is made by steps, kept in the database in parts, and read by whoever has
// the link.
//
// # The way of a file
//
// Start writes an export down. Step adds the next part in the caller's transaction: so many contacts after the last, in
// the order of creation. It holds the export's row, so that two runs of the job write two parts. Every contact that fits
// at the time of its step and existed before the export is in the file once: the place in the order of creation never
// changes. There is no one moment that the whole file shows; that would hold back the vacuum for as long as it takes.
//
// # Cells
//
// The cells of a CSV are written by package sheet, so that no spreadsheet takes one for a formula. An import reads what
// was written: a CSV that is imported again changes nothing. NDJSON has values as they are.
package exports
