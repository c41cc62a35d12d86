package platformretention

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
)

// Free is the name, in Days, of the orgs whose plan is not in effect: their trial has ended, or they do not pay.
const Free = "free"

// Days is how many days data is kept. The zero value is no setting.
type Days struct {
	Usual int            // of orgs whose plan is not in Plans
	Plans map[string]int // by plan of the catalogue, or Free
}

var errDays = errors.New("want DAYS[,PLAN=DAYS...], such as 365 or 365,free=90")

// UnmarshalText parses days for all orgs, and days of single plans behind them: 365,free=90.
func (d *Days) UnmarshalText(text []byte) error {
	*d = Days{}
	if len(text) == 0 {
		return nil
	}

	usual, rest, more := strings.Cut(string(text), ",")
	var err error
	if d.Usual, err = strconv.Atoi(usual); err != nil {
		return errDays
	}

	for more {
		var entry string
		entry, rest, more = strings.Cut(rest, ",")
		plan, number, _ := strings.Cut(entry, "=")
		days, err := strconv.Atoi(number)
		if _, twice := d.Plans[plan]; err != nil || plan == "" || twice {
			return errDays
		}
		if d.Plans == nil {
			d.Plans = map[string]int{}
		}
		d.Plans[plan] = days
	}

	return nil
}

// String returns the setting as UnmarshalText parses it, with the plans sorted.
func (d *Days) String() string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(d.Usual))
	for _, plan := range slices.Sorted(maps.Keys(d.Plans)) {
		fmt.Fprintf(&b, ",%s=%d", plan, d.Plans[plan])
	}
	return b.String()
}

// ofPlan returns the days of an org whose plan is in effect or not.
func (d *Days) ofPlan(plan string, inEffect bool) int {
	if days, ok := d.Plans[Free]; ok && !inEffect {
		return days
	}
	if days, ok := d.Plans[plan]; ok {
		return days
	}
	return d.Usual
}

// longest returns the most days that any org has, or usual without a setting.
func (d *Days) longest(usual int) int {
	if d.Usual == 0 {
		return usual
	}
	return slices.Max(append(slices.Collect(maps.Values(d.Plans)), d.Usual))
}

// checkRange returns an error if a number is out of range or a plan is not in the catalogue.
func (d *Days) checkRange(fewest int, catalogue *plans.Catalogue) error {
	want := fmt.Errorf("want %d to %d days", fewest, mostDays)
	if d.Usual != 0 && (d.Usual < fewest || d.Usual > mostDays) {
		return want
	}
	if d.Usual == 0 && len(d.Plans) > 0 {
		return errDays
	}

	for _, plan := range slices.Sorted(maps.Keys(d.Plans)) {
		_, known := catalogue.Plan(plan)
		switch {
		case plan == plans.Client:
			return errors.New("client: a client org has the days of its agency's plan")
		case !known && plan != Free:
			return fmt.Errorf("no plan %q; the plans are %s, and %s is for orgs whose plan is not in effect", plan,
				strings.Join(planKeys(catalogue), ", "), Free)
		case d.Plans[plan] < fewest || d.Plans[plan] > mostDays:
			return fmt.Errorf("%s: %w", plan, want)
		}
	}

	return nil
}

func planKeys(catalogue *plans.Catalogue) (all []string) {
	for i := range catalogue.Plans {
		all = append(all, catalogue.Plans[i].Key)
	}
	return all
}
