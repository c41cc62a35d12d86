// Package archive writes the days of partitioned tables to an object store before they are dropped.
//
// A day that is older than its table keeps is first detached from the table (migrations/0119_archive.sql). From then on
// nothing changes it, so that any later run may repeat each step:
//
//  1. Its rows are read in the order of the primary key and written as parts: objects of gzipped JSON lines whose
//     numbers follow from the rows alone. A part is recorded after its object is stored. A run that is killed in
//     between leaves an object that the next run replaces by an equal one.
//  2. When no row is left, every object is read back: its bytes must have the recorded hash, and its lines are counted.
//  3. The manifest, which lists the parts, is stored. A reader of the archive ignores a day without a manifest.
//  4. One transaction compares the number of rows with the lines of the parts, and drops the table.
//
// A detached day is out of reach of the API and of the erasure of a contact's data. So is the archive.
package archive
