package filter

import "strings"

// Column describes the SQL of a field over a domain package's rows. Its parts are SQL fragments of that package and
// never contain a value.
type Column struct {
	// Value is the expression of the value: text COLLATE "C" for Text and Address (folded), Key, Keys and Date, and
	// float8, boolean, timestamptz or uuid for the other types. It is NULL if the value is missing.
	Value string
	// Whole is used for contains if Value holds only the first part of a long text, at least MaxTextBytes of it.
	Whole string
	// Rows is used if the values have their own rows: "SELECT FROM ... WHERE ...", which selects the field's rows of
	// the outer row. Further conditions are appended to it. It is "" if Value belongs to the outer row itself.
	Rows string
	// Has returns the condition that Rows, with its further conditions, selects a row: true or false, never NULL. If it
	// is nil, that is EXISTS.
	Has func(rows string) string
}

// SQL returns the filter as a condition on a row. column returns the SQL of a field of a type; arg adds an argument and
// returns its placeholder. The whole condition may be NULL instead of false; each not inside it is two-valued. It uses
// only the operators =, <, <=, > and >=, which are leakproof, and strpos for contains.
func (f *Filter) SQL(column func(field string, t Type) Column, arg func(v any) string) string {
	join := func(by, none string) string {
		if len(f.parts) == 0 {
			return none
		}
		parts := make([]string, len(f.parts))
		for i, p := range f.parts {
			parts[i] = p.SQL(column, arg)
		}
		return "(" + strings.Join(parts, by) + ")"
	}
	switch f.kind {
	case isAll:
		return join(" AND ", "TRUE")
	case isAny:
		return join(" OR ", "FALSE")
	case isNot:
		return "(" + f.parts[0].SQL(column, arg) + ") IS NOT TRUE"
	default:
		return f.leaf.toSQL(column(f.leaf.field, f.leaf.typ), arg)
	}
}

func (l *leaf) toSQL(c Column, arg func(v any) string) string {
	yes := l.op != Ne && l.op != NotIn && (l.op != Exists || l.value == true)
	if c.Rows != "" {
		rows := c.Rows
		if l.op != Exists {
			rows += " AND " + l.conditionSQL(c, arg)
		}
		has := "EXISTS (" + rows + ")"
		if c.Has != nil {
			has = c.Has(rows)
		}
		if !yes {
			has = "NOT " + has
		}
		return has
	}
	switch {
	case l.op == Exists && yes:
		return c.Value + " IS NOT NULL"
	case l.op == Exists:
		return c.Value + " IS NULL"
	case yes:
		return l.conditionSQL(c, arg)
	default:
		return "(" + l.conditionSQL(c, arg) + ") IS NOT TRUE"
	}
}

// conditionSQL returns the condition that the value must satisfy; for ne and not_in, must not satisfy.
func (l *leaf) conditionSQL(c Column, arg func(v any) string) string {
	switch {
	case len(l.stored) == 1:
		return c.Value + " = " + arg(l.stored[0])
	case l.stored != nil:
		return c.Value + " = ANY (" + arg(l.stored) + arrays[l.typ] + ")"
	}

	switch l.op {
	case Eq, Ne:
		return c.Value + " = " + arg(l.value)
	case In, NotIn:
		return c.Value + " = ANY (" + arg(l.value) + arrays[l.typ] + ")"
	case Gt:
		return c.Value + " > " + arg(l.value)
	case Gte:
		return c.Value + " >= " + arg(l.value)
	case Lt:
		return c.Value + " < " + arg(l.value)
	case Lte:
		return c.Value + " <= " + arg(l.value)
	case Contains:
		if c.Whole != "" {
			return "strpos(" + c.Whole + ", " + arg(l.value) + ") > 0"
		}
		return "strpos(" + c.Value + ", " + arg(l.value) + ") > 0"
	default: // StartsWith
		from, _ := l.value.(string)
		to, ok := leastAbove(from)
		if !ok {
			return c.Value + " >= " + arg(from)
		}
		return "(" + c.Value + " >= " + arg(from) + " AND " + c.Value + " < " + arg(to) + ")"
	}
}

var arrays = map[Type]string{
	Text: "::text[]", Address: "::text[]", Key: "::text[]", Keys: "::text[]", Date: "::text[]", Number: "::float8[]",
	Time: "::timestamptz[]", ID: "::uuid[]",
}
