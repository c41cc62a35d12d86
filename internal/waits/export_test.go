package waits

import "regexp"

var assigned = regexp.MustCompile(`(?:^|, )(\w+) = `)

// Columns returns the columns that EndLate sets, with their tables.
func Columns() (all []string) {
	for i := range columns {
		for _, m := range assigned.FindAllStringSubmatch(columns[i].set, -1) {
			all = append(all, columns[i].table+"."+m[1])
		}
	}
	return all
}
