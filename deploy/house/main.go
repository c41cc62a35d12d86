package main

import (
	"fmt"
	"os"
	"text/tabwriter"
)

func main() {
	house, err := measure(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	for _, f := range house.figures() {
		fmt.Fprintf(table, "%s\t%s\taim %s\n", f.name, f.text(f.value), f.text(f.aim))
	}
	_ = table.Flush()
}
