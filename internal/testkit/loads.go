package testkit

import "regexp"

var foreignLoad = regexp.MustCompile(`(?i)<(?:script|img|iframe|source|video|audio|embed|link)\b[^>]*` +
	`\b(?:src|srcset|href|data)\s*=\s*["']?\s*(?:https?:)?//[^>]*>` +
	`|url\(\s*["']?(?:https?:)?//[^)]*\)|@import\s+["'](?:https?:)?//[^"']*`)

// ForeignLoads returns the parts of a page or a style sheet that make a browser load something from another host.
func ForeignLoads(page string) []string { return foreignLoad.FindAllString(page, -1) }
