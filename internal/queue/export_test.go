package queue

// ReadThrough makes o read through only n of the newest dead jobs before it asks the index of texts.
func ReadThrough(o *Operator, n int) { o.recent = n }
