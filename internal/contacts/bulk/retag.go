package bulk

// Retagged returns the tags with some added and some removed.
func Retagged(tags, add, remove []string) []string { return changedKeys(tags, add, remove) }
