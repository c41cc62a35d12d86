package wordindex

// ReadSQL is what Find reads.
const ReadSQL = readSQL

// Probes are the slices that a search for word reads.
func Probes(word string) []int16 { return wordProbes(word) }

// SlicesOf are the slices in which a contact with word has bits.
func SlicesOf(word string) []int16 { return slicesOf(word, nil) }
