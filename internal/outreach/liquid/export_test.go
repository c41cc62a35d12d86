package liquid

// Source returns the text that was parsed.
func (t *Template) Source() string { return t.source }
