package liquid

import (
	"errors"
	"fmt"
)

// The limits of Render.
var (
	ErrFuel    = errors.New("the template takes too many steps")
	ErrTooLong = errors.New("the output of the template is too long")
)

// A SyntaxError is a template that cannot be parsed. Line and Column count from 1, Column in characters.
type SyntaxError struct {
	Line, Column int
	Msg          string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// A MissingError is the output of a path that has no value and no default.
type MissingError struct {
	Path         string
	Line, Column int
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s has no value and no default", e.Line, e.Column, e.Path)
}

// A ValueError is a value that a filter cannot take, such as a name given to date.
type ValueError struct {
	Path, Filter, Msg string
	Line, Column      int
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s: %s: %s", e.Line, e.Column, e.Path, e.Filter, e.Msg)
}
