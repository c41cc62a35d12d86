package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// report prints each list against its limit, and the deep page against the first.
func report(floor *crmList, lists []*crmList) error {
	slices.Sort(floor.took)
	base := quantile(floor.took, .5)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "%s: p50 %s, p95 %s\n\n", floor.name, short(base), short(quantile(floor.took, .95)))
	fmt.Fprintln(out, "list\tshare\tp50\tp95\tof floor\tbar\tp95 of bar\t\tfar in p50\tp95\t<= 1.5x\t")
	missed := 0
	word := func(ok bool) string {
		if ok {
			return "ok"
		}
		missed++
		return "MISS"
	}
	for _, l := range lists {
		slices.Sort(l.took)
		slices.Sort(l.tookFar)
		p50, p95 := quantile(l.took, .5), quantile(l.took, .95)
		against := fmt.Sprintf("%s\t%.2f\t%s", short(l.bar), float64(p95)/float64(l.bar), word(p95 <= l.bar))
		line := fmt.Sprintf("%.70s\t%s\t%s\t%s\t%.1fx\t%s", l.name, percent(l.share), short(p50), short(p95),
			float64(p50)/float64(base), against)
		if len(l.tookFar) > 0 {
			far, far95 := quantile(l.tookFar, .5), quantile(l.tookFar, .95)
			against := fmt.Sprintf("%.1fx", float64(far95)/float64(p95))
			if l.bar == 25*time.Millisecond { // a sort order or a single filter
				// Every request of a page is the same query: if the median is no slower, a p95 of some milliseconds is
				// noise of the machine.
				against = word(far95 <= max(p95*3/2, 2*time.Millisecond) ||
					far95 < 5*time.Millisecond && far <= p50*11/10)
			}
			line += fmt.Sprintf("\t%s\t%s\t%s (after %d)", short(far), short(far95), against, l.deep)
		}
		fmt.Fprintln(out, line)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	verdict(os.Stdout,
		"every list within its bar, and orders and single filters far in within 1.5x of their first page",
		missed == 0, strconv.Itoa(missed)+" missed")
	return nil
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 3, 64) + " %" }
