package main

import (
	"fmt"
	"slices"
)

// figure is one line of the table.
type figure struct {
	name  string
	value float64
	aim   float64 // negative: less than now
	bound float64 // what the test allows
	least bool    // aim and bound are minima, not maxima
	unit  string
}

// text formats a value of the figure.
func (f *figure) text(value float64) string {
	switch {
	case value < 0:
		return "fewer"
	case f.unit == "%":
		return fmt.Sprintf("%.1f %%", value)
	}
	return fmt.Sprintf("%.0f", value)
}

// holds reports whether the value is within the bound.
func (f *figure) holds() bool {
	if f.least {
		return f.value >= f.bound
	}
	return f.value <= f.bound
}

// figures returns the table.
func (h *house) figures() []figure {
	short := 0
	lengths := make([]int, len(h.functions))
	for i, name := range h.functions {
		lengths[i] = len(name)
		if oneWord(name) {
			short++
		}
	}
	slices.Sort(lengths)
	return []figure{
		{
			name: "unexported functions whose name is one word", unit: "%",
			value: share(short, len(h.functions)), aim: 25, bound: oneWordBound,
		},
		{
			name: "median length of their names", least: true,
			value: float64(lengths[len(lengths)/2]), aim: 10, bound: medianBound,
		},
		{
			name: "assignments of several values that are not one step", unit: "%",
			value: share(h.parallel, h.assigns), aim: 1, bound: parallelBound,
		},
		{
			name:  "conditions behind a call in the same line",
			value: float64(h.callFirst), aim: 0, bound: callFirstBound,
		},
		{
			name: "blank lines", unit: "%", least: true,
			value: share(h.blank, h.lines), aim: 12, bound: blankBound,
		},
		{
			name: "lines of more than 100 columns", unit: "%",
			value: share(h.long, h.lines), aim: 4, bound: longBound,
		},
		{name: "statements", value: float64(h.statements), aim: -1, bound: statementsBound},
	}
}

// share returns n of all in percent.
func share(n, all int) float64 { return 100 * float64(n) / float64(max(all, 1)) }
