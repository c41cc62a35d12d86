package bulk

import (
	"context"
	"slices"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// readSpellings completes an action with the org's spellings of its names: a name that it adds is the one that the org
// has, and a tag that it renames or deletes is replaced in all its spellings.
func (a *Action) readSpellings(ctx context.Context, tx *postgres.Tx) (err error) {
	switch a.Type {
	case Tag:
		p := contacts.Patch{Tag: wire.Some(a.Add)}
		err = contacts.Respell(ctx, tx, &p)
		a.Add = p.Tag.Value
	case Segment:
		p := contacts.Patch{Segment: wire.Some(a.Add)}
		err = contacts.Respell(ctx, tx, &p)
		a.Add = p.Segment.Value
	case Update:
		p, wrong := PatchOf(a.Patch)
		if wrong != nil {
			return wrong
		}
		err = contacts.Respell(ctx, tx, &p)
		a.Patch = encodePatch(&p)
	case RenameTag:
		a.former, err = contacts.TagSpellings(ctx, tx, a.To)
		a.former = slices.DeleteFunc(append(a.former, a.Tag), func(s string) bool { return s == a.To })
	case DeleteTag:
		a.former, err = contacts.TagSpellings(ctx, tx, a.Tag)
	case Archive, Restore:
	}
	return err
}

// settle ends the change of a tag's spellings. more reports whether contacts have got the tag since, so that the change
// must go on.
func (c *Change) settle(ctx context.Context, tx *postgres.Tx, part int) (more bool, err error) {
	if c.DryRun || c.Action.Type != RenameTag && c.Action.Type != DeleteTag {
		return false, nil
	}
	tag := c.Action.Tag
	if c.Action.Type == RenameTag {
		tag = c.Action.To
	}
	left, err := contacts.SettleTag(ctx, tx, tag)
	if err != nil || !left || c.RowsFailed > 0 {
		return false, err
	}

	before := c.RowsTotal
	if err := c.storeMatches(ctx, tx, part); err != nil {
		return false, err
	}
	more = c.RowsTotal > 0
	c.RowsTotal += before
	tx.Queue(`UPDATE contact_bulk SET rows_total = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), c.ID, c.RowsTotal)
	return more, nil
}
