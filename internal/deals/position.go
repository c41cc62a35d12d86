package deals

import (
	"context"
	"regexp"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// A position is a fraction in base 36, without the point: its digits are 0 to 9 and a to z, and positions are compared
// as bytes. No position ends in 0, so there is always one between two others.
const (
	digits      = "0123456789abcdefghijklmnopqrstuvwxyz"
	maxPosition = 1000
)

var positionForm = regexp.MustCompile(`^[0-9a-z]*[1-9a-z]$`)

// byAge returns the position of a deal that was never moved: above all deals with a lower id. The generated column
// position has the same value.
func byAge(i id.ID) string {
	hex := strings.ReplaceAll(i.String(), "-", "")
	return strings.Map(func(d rune) rune {
		return rune(digits[15-strings.IndexRune(digits, d)])
	}, hex) + "i"
}

// topPosition returns a position above every deal, and bottomPosition one below every deal, as far as their positions
// come from byAge, topPosition and bottomPosition. Both are unique.
func topPosition() string    { return byAge(id.New()) }
func bottomPosition() string { return "g" + strings.ReplaceAll(id.New().String(), "-", "") + "i" }

// positionBetween returns a position after a and before b. "" as a is the beginning, and as b the end. a must be less
// than b. The result is short: a position grows by one digit for about five moves into the same gap.
func positionBetween(a, b string) string {
	bounded := b != ""
	var out []byte
	for i := 0; ; i++ {
		low, high := 0, len(digits)
		if i < len(a) {
			low = strings.IndexByte(digits, a[i])
		}
		if bounded && i < len(b) {
			high = strings.IndexByte(digits, b[i])
		}
		if high-low > 1 {
			return string(append(out, digits[(low+high)/2]))
		}
		out = append(out, digits[low])
		bounded = bounded && high == low
	}
}

// storedPosition returns the column place of d: its position, or nil if d was never moved.
func storedPosition(d *Deal) *string {
	if d.Position == byAge(d.ID) {
		return nil
	}
	return &d.Position
}

// applyPosition sets the position of now next to the deal that p names, in the stage that now is in. Moves into one
// stage wait for each other, so that no two get the same position.
func (p *Patch) applyPosition(ctx context.Context, tx *postgres.Tx, now *Deal) error {
	name, given, before := "after_id", p.AfterID, false
	if p.BeforeID.Set {
		name, given, before = "before_id", p.BeforeID, true
	}
	switch {
	case !given.Set:
		return nil
	case p.BeforeID.Set && p.AfterID.Set || p.Position.Set:
		return fault.Invalid(name, "contradiction", "Give one of position, before_id and after_id.")
	case given.Null:
		return fault.Invalid(name, "not_nullable", "This field cannot be null.")
	}
	next, err := id.Parse(given.Value)
	if err != nil {
		return fault.Invalid(name, "invalid_uuid", "This is not a UUID.")
	}
	if next == now.ID {
		return fault.Invalid(name, "same_deal", "A deal is moved next to another deal.")
	}
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('deal_board/' || $1::text, 0))`, now.StageID.String())
	low, high, err := neighbours(ctx, tx, now, next, before)
	if postgres.None(err) {
		return fault.Invalid(name, "unknown_deal", "The deal's stage has no such other deal.")
	}
	if err != nil {
		return err
	}
	if now.Position > low && (high == "" || now.Position < high) {
		return nil
	}
	now.Position = shortPosition(low, high)
	if len(now.Position) > maxPosition {
		return fault.New(fault.Conflict,
			"Too many deals have been moved to this place. Move the deals around it to the top or the bottom first.")
	}
	return nil
}

// shortPosition returns a position between two others, for the ends one that keeps positions short.
func shortPosition(low, high string) string {
	if p := topPosition(); low == "" && p < high {
		return p
	}
	if p := bottomPosition(); high == "" && p > low {
		return p
	}
	return positionBetween(low, high)
}

// neighbours returns the positions between which a deal lies that is put directly before or after another one; ""
// stands for the ends. It returns pgx.ErrNoRows if the stage has no such live deal.
func neighbours(ctx context.Context, tx *postgres.Tx, d *Deal, next id.ID, before bool) (low, high string, err error) {
	const at = `SELECT n.position, coalesce((SELECT o.position FROM deal o
		WHERE o.org_id = $1 AND o.stage_id = $2 AND o.archived_at IS NULL AND o.id <> $4 AND o.position `
	const of = `), '') FROM deal n WHERE n.org_id = $1 AND n.stage_id = $2 AND n.id = $3 AND n.archived_at IS NULL`
	args := []any{tx.Org(), d.StageID, next, d.ID}
	if before {
		err = tx.QueryRow(ctx, at+`< n.position ORDER BY o.position DESC LIMIT 1`+of, args, &high, &low)
	} else {
		err = tx.QueryRow(ctx, at+`> n.position ORDER BY o.position LIMIT 1`+of, args, &low, &high)
	}
	return low, high, err
}

// fillPosition applies the member position.
func (p *Patch) fillPosition(f *form.Form, d *Deal) {
	in := p.Position
	switch {
	case !in.Set:
	case in.Null:
		f.Wrong("position", "not_nullable", "This field cannot be null.")
	case len(in.Value) > maxPosition || !positionForm.MatchString(in.Value):
		f.Wrong("position", "invalid_format",
			"A position has 1 to 1000 digits 0 to 9 and letters a to z, and does not end in 0.")
	default:
		d.Position = in.Value
	}
}
