package contacts

import (
	"time"
)

// Type is the type of the values of a custom field.
type Type string

// Types of custom fields.
const (
	String  Type = "string"
	Number  Type = "number"
	Boolean Type = "boolean"
	Date    Type = "date" // a string YYYY-MM-DD
)

// TypeOf returns the type that a first value defines. A string in date form defines a Date.
func TypeOf(v any) Type {
	switch x := v.(type) {
	case bool:
		return Boolean
	case float64:
		return Number
	case string:
		if isDate(x) {
			return Date
		}
	}
	return String
}

// Takes reports whether v is a valid value for a field of type t. A Text field accepts strings in date form, too.
func (t Type) Takes(v any) bool {
	is := TypeOf(v)
	return is == t || t == String && is == Date
}

func isDate(s string) bool {
	if len(s) != len(time.DateOnly) {
		return false
	}
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
