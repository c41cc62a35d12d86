package spans

import "strings"

// maxText is how many bytes of a statement a span has.
const maxText = 500

// redactSQL returns a statement in one line, with ? for each string literal in it. It ends before a dollar-quoted
// literal.
func redactSQL(sql string) string {
	var out strings.Builder
	blank := false
	for i := 0; i < len(sql) && out.Len() < maxText; i++ {
		b := sql[i]
		if b == ' ' || b == '\n' || b == '\t' || b == '\r' {
			blank = out.Len() > 0
			continue
		}
		if blank {
			out.WriteByte(' ')
			blank = false
		}

		switch {
		case b == '\'':
			escapes := i > 0 && (sql[i-1] == 'E' || sql[i-1] == 'e')
			i = literalEnd(sql, i+1, escapes)
			out.WriteByte('?')
		case b == '$' && i+1 < len(sql) && (sql[i+1] < '0' || sql[i+1] > '9'):
			return out.String()
		default:
			out.WriteByte(b)
		}
	}

	return out.String()
}

// literalEnd returns the position of the quote that ends the literal whose text begins at i.
func literalEnd(sql string, i int, escapes bool) int {
	for ; i < len(sql); i++ {
		switch {
		case escapes && sql[i] == '\\':
			i++
		case sql[i] == '\'' && i+1 < len(sql) && sql[i+1] == '\'':
			i++
		case sql[i] == '\'':
			return i
		}
	}

	return len(sql)
}
