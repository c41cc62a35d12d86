package operator

// ReadThrough limits o's scan of the newest dead jobs before it uses the text index to n.
func ReadThrough(o *Operator, n int) { o.recent = n }
